"""Models of which of two items is preferred, and the values of items and contexts."""
