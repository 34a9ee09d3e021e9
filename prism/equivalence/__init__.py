"""Whether two formulas say the same: as they stand, then with what the problem knows."""
