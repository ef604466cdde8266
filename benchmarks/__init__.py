"""Measurements. Each module is a command that prints a table and says how it was made."""
