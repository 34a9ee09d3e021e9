"""Diagnosis: what is wrong with a formula that matches no node, shown by the one change that repairs it."""
