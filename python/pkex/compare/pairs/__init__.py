"""Sums over pairs of rows, and the statistics and standard errors computed from them."""
