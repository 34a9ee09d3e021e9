"""Problems without end: templates are drawn, and their numbers worked out from their own formulas."""
