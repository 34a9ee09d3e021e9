"""LaTeX of one formula to an expression."""
