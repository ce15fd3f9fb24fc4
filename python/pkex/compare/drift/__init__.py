"""Drift detection: a reference sample, and batches that are compared with it."""
