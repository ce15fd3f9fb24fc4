"""What several test modules share."""

import sys
from pathlib import Path

import numpy as np
import pytest

# Test modules import their reference implementations by name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def rng():
    return np.random.default_rng(0)
