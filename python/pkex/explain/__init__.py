"""The explainer and its results."""
