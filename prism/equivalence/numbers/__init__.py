"""Numbers with their units: those that a formula states, those that it gives, and when two of them agree."""
