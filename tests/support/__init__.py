"""What several tests and benchmarks share: attacks on problems, faults put into formulas, generated formulas."""
