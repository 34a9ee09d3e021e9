"""An expression back to LaTeX."""
