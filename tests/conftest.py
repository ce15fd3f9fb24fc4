"""What several test modules share."""

import signal

import numpy as np
import pytest

# Where tests run in the background, they and all that they start would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["shared"]  # imported by tests, and none itself


@pytest.fixture
def rng():
    return np.random.default_rng(0)
