"""Units, constants and dimensions, and the context of a problem."""
