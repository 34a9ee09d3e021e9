"""Sums and products that are written with dots, ranges and orders, and the terms that they stand for."""
