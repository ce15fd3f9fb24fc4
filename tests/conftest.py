"""What several test modules share."""

import numpy as np
import pytest

collect_ignore = ["shared"]  # imported by tests, and none itself


@pytest.fixture
def rng():
    return np.random.default_rng(0)
