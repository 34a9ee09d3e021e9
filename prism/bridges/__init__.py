"""Formulas and quantities as objects of other libraries, and in a notebook. Each library is imported when it is called."""
