"""Expressions and formulas as values: the table of operators, and exact rewriting."""
