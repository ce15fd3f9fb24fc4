"""The value function of a row as a game of shapiq, for its approximators and exact computer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from shapiq import Game

import pkex
from pkex.adapters.targets import adapted_to
from pkex.execution.blocks import blocks_of
from pkex.explain.row_game import RowGame
from pkex.inputs.keywords import with_known_keywords
from pkex.integrations import as_background, as_one_row
from pkex.typing import Float

# The number of coalitions whose values are computed together.
_COALITIONS = 1 << 13


class KernelGame(Game):
    """The value function of a row of a kernel machine as a `shapiq.Game`, evaluated by pkex.

    The value of a coalition is the mean output of the model with absent features drawn from the
    background data. It is exact, and the model is not called. Use it with any class of shapiq that
    accepts a game, for indices that `pkex.Explainer` does not support.

    Parameters
    ----------
    model : fitted model, bound method or KernelExpansion
        As in `pkex.Explainer`, including ``predict_proba``.
    x : array-like or Series of shape (d,), or table of shape (1, d)
        The row.
    background : array-like, DataFrame or sparse matrix of shape (m, d), optional
        Rows that absent features are drawn from. Not required for ``value_function="neutral"``, nor
        where `pkex.Explainer` draws rows of the model's stored training points: probabilities,
        standard deviations, and functions behind a `link` or `transform`.
    value_function : {None, "interventional", "neutral", "marginal"}, optional
        None stands for "interventional" if rows are drawn, otherwise "neutral". "marginal" requires
        a function that is not a sum of products, and few combinations of background values.
    outputs : int or str, optional
        The output if there are several, by number or name.
    normalize : bool, default True
        Whether the value of the empty coalition is subtracted, as in shapiq's games.
    target, background_weights, groups, link, transform, n_jobs : optional
        As in `pkex.Explainer`. The players are columns and groups of columns.

    Raises
    ------
    UnsupportedModelError, ValueError, TypeError
        As in `pkex.Explainer`; if there are several outputs and none was selected; or for
        ``value_function="marginal"`` of a sum of products, whose coalitions are not evaluated one
        by one.

    Examples
    --------
    >>> import shapiq
    >>> from sklearn.svm import SVR
    >>> from pkex.integrations.shapiq import KernelGame
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
    >>> game = KernelGame(model, X[2], background=X)
    >>> values = shapiq.ExactComputer(game, n_players=2)("SV", order=1)
    >>> total = game.normalization_value + values[(0,)] + values[(1,)]
    >>> bool(abs(total - model.predict(X)[2]) < 1e-12)
    True
    """

    # Where users import it from.
    __module__ = "pkex.integrations.shapiq"

    @with_known_keywords
    def __init__(
        self,
        model: Any,
        x: ArrayLike,
        background: Any = None,
        *,
        value_function: Literal["interventional", "neutral", "marginal"] | None = None,
        outputs: int | str | None = None,
        normalize: bool = True,
        target: Any = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        link: Literal["identity", "logit"] = "identity",
        transform: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        rows = as_background(background)
        is_sum = link == "identity" and transform is None
        if value_function is None and rows is None and is_sum:
            # The default of `pkex.Explainer`, "marginal", is not evaluated at coalitions.
            draws_rows = adapted_to(model, target).function.draws_rows
            value_function = None if draws_rows else "neutral"
        self._explainer = pkex.Explainer(
            model,
            rows,
            target=target,
            value_function=value_function,
            background_weights=background_weights,
            groups=groups,
            outputs=outputs,
            link=link,
            transform=transform,
            n_jobs=n_jobs,
        )
        if self._explainer.output_names is not None:
            names = self._explainer.output_names
            raise ValueError(
                f"the model has {len(names)} outputs, but a game has one. Choose one by "
                f"outputs=..., among {', '.join(map(repr, names))}"
            )
        columns = self._explainer._problem.schema.columns
        table = as_one_row("x", x, "pkex.Explainer", columns)
        self._of_row = RowGame.of(self._explainer._problem, table)
        empty = float(self._explainer.expected_value)
        super().__init__(
            len(self._explainer.feature_names),
            normalize=normalize,
            normalization_value=empty if normalize else None,
        )

    def __repr__(self) -> str:
        """Return the text of the `pkex.Explainer`, with the name of this class."""
        text = repr(self._explainer).removeprefix("Explainer(").removesuffix(")")
        return f"{type(self).__name__}({text}, normalize={self.normalize})"

    def value_function(self, coalitions: NDArray[np.bool_]) -> Float:
        """Return the values of coalitions.

        Parameters
        ----------
        coalitions : ndarray of bool, shape (count, players)

        Returns
        -------
        ndarray of shape (count,)
        """
        members = np.asarray(coalitions, dtype=np.bool_)
        blocks = blocks_of(len(members), _COALITIONS)
        values = [self._of_row(members[block])[:, 0] for block in blocks]
        return np.concatenate(values) if values else np.zeros(0)
