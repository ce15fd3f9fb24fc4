"""Kernel models that are fitted with a penalty on Shapley values."""
