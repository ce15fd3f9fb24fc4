"""Explainers' interactions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from pkex.execution.progress import Progress
from pkex.explain.described import Described
from pkex.explain.explained_rows import ExplainedRows
from pkex.explain.interaction_values import check_interactions, interaction_values
from pkex.games.indices import Index
from pkex.inputs.keywords import with_known_keywords
from pkex.results.interactions import Interactions
from pkex.results.row_values import same_for_all

__all__ = ["Interacting"]


class Interacting(Described):
    """What an explainer says of features that act together."""

    __slots__ = ()

    @with_known_keywords
    def interactions(
        self,
        X: ArrayLike,
        *,
        index: Index = "k-SII",
        order: int = 2,
        progress: Progress = False,
    ) -> Interactions:
        """Explain rows by interactions: coefficients of all coalitions of up to `order` features.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        index : str, default "k-SII"
            "k-SII", the pairwise values that shap shows for trees; "STII" (Shapley–Taylor) and
            "FSII" (faithful Shapley), which add up to the output, too; "SII" (Shapley), "BII"
            (Banzhaf) and "FBII" (faithful Banzhaf); "Moebius" and "Co-Moebius"; "CHII" (chaining).
        order : int, default 2
            The largest number of features in a coalition. There are C(d, order) coalitions of that
            size, each a number and a step of the computation.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        Interactions

        Raises
        ------
        ValueError
            If `index` is unknown, `order` larger than the number of features, or the result too
            large; or as in calling the explainer. If the explainer's method is "recursion", which
            has Shapley values only.
        TypeError, OverflowError
            As in calling the explainer.

        References
        ----------
        Grabisch and Roubens (1999) for SII and BII; Sundararajan et al. (2020) for STII; Tsai et
        al. (2023) for FSII and FBII; Bordt and von Luxburg (2023) for k-SII. Their integrals are in
        the documentation's page on the mathematics.

        Examples
        --------
        >>> import pkex
        >>> from sklearn.svm import SVR
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
        >>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
        >>> interactions = pkex.Explainer(model).interactions(X)
        >>> interactions.of(0, 1).shape
        (3,)
        >>> total = interactions.values.sum(axis=1) + interactions.base_values
        >>> bool(abs(total - model.predict(X)).max() < 1e-12)
        True
        """
        if self.method != "quadrature":
            raise ValueError(
                f"method={self.method!r} computes Shapley values only; make an Explainer with "
                "method='quadrature' for interactions"
            )
        explained = ExplainedRows.read(X, self._columns, self._players)
        rows, function = explained.rows, self._function
        check_interactions(index, order, function.n_players, len(rows), function.n_outputs)
        with self._settings.computing(progress) as how:
            values, empty_values = interaction_values(
                function, rows, index, int(order), self._game, how
            )
        has_axis, base = self.output_names is not None, self.expected_value
        if empty_values is None:
            empty_values = same_for_all(base, len(rows))
        elif not has_axis:
            empty_values = empty_values[..., 0]
        return Interactions(
            values if has_axis else values[..., 0],
            empty_values,
            base,
            explained.data,
            explained.features,
            self.output_names,
            index,
            int(order),
            row_index=explained.row_index,
            output_name=self.output_name,
            value_function=self.value_function,
        )
