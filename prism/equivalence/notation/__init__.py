"""What the letters and signs of two formulas may mean, and the readings that are tried."""
