"""Expressions to tapes to kernels: sample points, residuals and proofs. It knows no physics and no LaTeX."""
