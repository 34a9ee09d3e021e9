"""Sums, products, integrals and limits under an interpretation, and what makes them cheaper or exact."""
