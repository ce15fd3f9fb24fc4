"""Sparse rows with the odd cases of documents."""

from scipy import sparse


def documents(rng, n, d, of_missing_word=0.0):
    """Rows with a document without words, one with a single word, and a word of no other rows."""
    rows = rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.3)
    rows[:, 5] = 0.0
    rows[0, 5] = of_missing_word
    rows[1] = 0.0
    rows[2] = 0.0
    rows[2, 3] = 0.5
    return sparse.csr_array(rows)
