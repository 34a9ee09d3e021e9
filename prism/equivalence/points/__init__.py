"""Formulas compared at random points of their zero sets."""
