"""Regression of single rows from means over bags of rows."""
