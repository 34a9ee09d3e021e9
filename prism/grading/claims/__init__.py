"""Claims of a solution: what it asserts, under which names and conditions, and what it only says again."""
