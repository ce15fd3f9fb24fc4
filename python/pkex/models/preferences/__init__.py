"""Preference models of two items, and Shapley values of items and contexts."""
