"""Kernels of samples: the default or the user's, with their terms for the engine."""
