"""Operators and states of quantum mechanics: their names, values and products."""
