"""Conditions: cases, sets, regions and inequalities, and where they hold."""
