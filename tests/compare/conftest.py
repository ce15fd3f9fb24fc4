"""What several tests of statistics share."""

import pytest


@pytest.fixture
def samples(rng):
    """Two tables of 13 and 17 rows and 7 columns, the last of small integers."""
    x, y = rng.normal(size=(13, 7)), 0.3 + 1.2 * rng.normal(size=(17, 7))
    x[:, 6], y[:, 6] = rng.integers(0, 3, 13), rng.integers(0, 2, 17)
    return x, y
