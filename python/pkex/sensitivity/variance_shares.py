"""Base class of sensitivity results: the variance and its shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.inputs.choices import check_choice
from pkex.sensitivity.draws import SensitivityDraws
from pkex.sensitivity.indices import Indices
from pkex.typing import Float

# The indices of single inputs, and their titles.
TITLES = {
    "shapley_effects": "Shapley effect",
    "first_order": "first order",
    "total": "total",
}
_INDICES = ("variance", *TITLES, "second_order")
_LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class VarianceShares(Indices):
    """A variance and its shares; see `SensitivityResult`."""

    draws: SensitivityDraws | None
    _names: tuple[str, ...]
    _outputs: tuple[str, ...] | None
    _explained: str
    _inputs: str
    notes: tuple[str, ...]

    @property
    def feature_names(self) -> list[str]:
        """The names of the inputs: of columns or groups."""
        return list(self._names)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the axis of outputs; None if there is no such axis."""
        return None if self._outputs is None else list(self._outputs)

    def credible_interval(self, index: str = "shapley_effects", level: float = _LEVEL) -> Float:
        """Return a credible interval of an index, from quantiles of the posterior draws.

        The interval omits equal shares of the draws at both ends. It may not contain the index of
        the posterior mean, which is smoother than draws: on average, draws have a larger variance
        and larger interactions.

        Parameters
        ----------
        index : {"shapley_effects", "first_order", "total", "second_order", "variance"}
        level : float, default 0.95
            The posterior probability of the interval.

        Returns
        -------
        ndarray of shape (2, ...), the rest as the index
            The lower and the upper ends.

        Raises
        ------
        ValueError
            If there are no draws, no such index, or `level` is not between 0 and 1.
        """
        if self.draws is None:
            raise ValueError(
                "credible_interval requires draws from the posterior of a Gaussian process. Call "
                "pkex.sensitivity(model, inputs, uncertainty=100)"
            )
        index = check_choice("index", index, _INDICES)
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, such as 0.95; got {level!r}")
        values = getattr(self.draws, index)
        if values is None:
            raise ValueError("second_order requires order=2")
        ends: Float = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
        return ends
