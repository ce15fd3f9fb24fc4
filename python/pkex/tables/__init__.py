"""Tables of users, read once: arrays, data frames, sparse matrices, lists and files."""
