"""Formulas and quantities as objects of other libraries, imported when a bridge is called; and in a notebook."""
