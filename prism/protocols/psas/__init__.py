"""PSAS: steps and answers of parts, by rule and from findings."""
