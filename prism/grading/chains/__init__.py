"""Chains of a solution, `a = b = c`: which of their links hold, and the values of their members."""
