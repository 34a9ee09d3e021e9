"""Chains `a = b = c`: whether two neighbouring members are equal, and what each member is worth."""
