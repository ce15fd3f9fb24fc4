"""Permutation tests: permutations, permuted statistics and p-values."""
