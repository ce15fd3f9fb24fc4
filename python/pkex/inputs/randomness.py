"""Random number generators from seeds of users."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.inputs.integers import whole


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a random number generator from a seed, or the generator itself.

    A RandomState, NumPy's older generator, draws the seed.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(1 << 31, size=4))
    seed = whole(random_state)
    if seed is not None and seed >= 0:
        return np.random.default_rng(seed)
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    raise (TypeError if seed is None else ValueError)(
        "random_state must be None, a non-negative integer, a numpy.random.Generator or a "
        f"numpy.random.RandomState; got {random_state!r}"
    )
