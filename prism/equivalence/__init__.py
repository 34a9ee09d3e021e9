"""Equivalence of two formulas: as they stand, then with what the problem knows substituted."""
