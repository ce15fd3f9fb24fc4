"""An explainer with the arguments and results of shap's explainers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Literal, overload

import numpy as np
import shap
from numpy.typing import ArrayLike
from shap._serializable import Serializable

import pkex
from pkex.adapters.targets import adapted_to
from pkex.explain.model_columns import ModelColumns
from pkex.games.observational import Observational
from pkex.games.value_functions import ValueFunction
from pkex.inputs.choices import check_names
from pkex.integrations import as_background, as_one_row
from pkex.integrations.arguments import (
    PROBLEMS,
    LibraryVocabulary,
    collect_errors,
    raise_together,
    with_checked_arguments,
)
from pkex.integrations.examination import examine
from pkex.integrations.shap.arguments import (
    CALL,
    CONSTRUCTOR,
    Algorithm,
    Budget,
    L1Reg,
    Link,
    are_of_pairs,
    check_masker,
    link_name,
    rows_of,
    selects_features,
)
from pkex.integrations.shap.attributes import KernelExplainerAttributes
from pkex.integrations.shap.saved_arguments import read_arguments, write_arguments
from pkex.typing import DaskArray, DaskRows, Float

# Arguments that are passed to `pkex.Explainer` unchanged.
_OPTIONS = ("link", "value_function", "background_weights", "groups", "feature_names", "n_jobs")


def _check_rows(self: KernelMachineExplainer, X: Any = None, row: Any = None, **_: object) -> None:
    """Raise the errors of rows whose shape is valid."""
    table = row if X is None else X
    if table is not None:
        self._columns.read(rows_of(table, self._columns)[0])


def _check_construction(
    self: object,
    model: Any,
    masker: Any = None,
    data: Any = None,
    output_names: Any = None,
    **arguments: Any,
) -> None:
    """Raise all errors of a model, background data and options of `pkex.Explainer`."""
    problems: list[Exception] = []
    with collect_errors(problems):
        _check_masker(masker, data)
    options = {name: arguments[name] for name in _OPTIONS if name in arguments}
    if "link" in options:
        # An unknown link is an error of its own check.
        options["link"] = link_name(options["link"]) or "identity"
    background = as_background(data if masker is None else masker)
    vocabulary = _vocabulary(data)
    schema = examine(problems, _inner(model), background, vocabulary=vocabulary, **options)
    if schema is not None and output_names is not None:
        with collect_errors(problems):
            check_names("output_names", output_names, len(schema.outputs.names or [None]))
    raise_together(problems)


def _vocabulary(data: Any) -> LibraryVocabulary:
    """Return the words of shap, which names the background `masker` or `data`."""
    return LibraryVocabulary({"background": "masker" if data is None else "data"})


def _inner(model: Any) -> Any:
    return model.inner_model if isinstance(model, shap.models.Model) else model


def _check_masker(masker: Any, data: Any) -> None:
    if masker is not None and data is not None:
        raise TypeError("masker and data are two names of the background data. Pass one of them")
    check_masker(data if masker is None else masker)


# shap has no types.
class KernelMachineExplainer(KernelExplainerAttributes, shap.Explainer):  # type: ignore[misc]
    """Exact Shapley values of a kernel machine, instead of `shap.KernelExplainer`.

    With background data, the values are those that `shap.KernelExplainer` and
    `shap.PermutationExplainer` estimate by sampling, and `shap.ExactExplainer` computes from all
    coalitions. The arguments are those of these explainers, in the order of `shap.Explainer`, and
    of `pkex.Explainer`. One error names all invalid arguments.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. A plain function, such as a lambda that calls ``model.predict``,
        hides the model and raises an error.
    masker : array-like, DataFrame, sparse matrix, Series, shap.kmeans summary or masker, optional
        The background rows; all of them are used. (`shap.Explainer` uses 100 rows of an array, and
        so does a masker by default.) A pandas Series is a single row. Without background data,
        where shap's model-agnostic explainers raise an error, each absent feature is averaged over
        the model's stored training points: ``value_function="marginal"``.
    link : {"identity", "logit"} or one of shap.links, default shap.links.identity
        With "logit", the values and the base value, the log-odds of the mean, add up to the
        log-odds of the model's output. It requires probabilities, ``model.predict_proba``.
    algorithm : {"auto", "exact", "permutation"}, default "auto"
        Without effect: values are exact.
    output_names, feature_names : sequence of str, optional
        Names of outputs and features; one output name for a single output.
    linearize_link : bool, default True
        Without effect: the link is applied to the mean, as in `shap.KernelExplainer`, and in
        `shap.ExactExplainer` with ``linearize_link=False``.
    seed : int, optional
        Without effect: nothing is random.
    data : array-like, optional
        Another name for `masker`, as in `shap.KernelExplainer`.
    value_function, background_weights, groups, n_jobs : optional
        As in `pkex.Explainer`.
    nsamples, max_evals, batch_size : int or "auto", optional
        Without effect: nothing is sampled, and the model is not called.
    l1_reg : str or float, optional
        Without effect, as in shap's constructors: it is an option of calls.
    keep_index, keep_index_ordered : bool, optional
        Without effect: the model is not called.
    random_state : int or generator of random numbers, optional
        Without effect: nothing is random.
    silent, gc_collect : bool, optional
        Without effect: there is no progress bar or garbage collection.

    Raises
    ------
    UnsupportedModelError
        If a part of the model is not supported.
    ValueError, TypeError
        If an argument has another value than those above, or the background data are invalid.

    See Also
    --------
    pkex.Explainer : The underlying explainer, which does not require shap.

    Examples
    --------
    >>> import shap
    >>> from sklearn.svm import SVR
    >>> from pkex.integrations.shap import KernelMachineExplainer
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
    >>> explainer = KernelMachineExplainer(model.predict, X)
    >>> explanation = explainer(X)
    >>> type(explanation) is shap.Explanation
    True
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(abs(total - model.predict(X)).max() < 1e-12)
    True

    Interactions of pairs, as in `shap.TreeExplainer`:

    >>> matrices = explainer.shap_interaction_values(X)
    >>> matrices.shape
    (3, 2, 2)
    >>> bool(abs(matrices.sum(axis=2) - explanation.values).max() < 1e-12)
    True
    """

    # Where users import it from.
    __module__ = "pkex.integrations.shap"

    # shap's `load` passes arguments by position, so all that have an effect can be.
    @with_checked_arguments(CONSTRUCTOR, finds_more=_check_construction)
    def __init__(
        self,
        model: Any,
        masker: Any = None,
        link: Link = shap.links.identity,
        algorithm: Algorithm = "auto",
        output_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        linearize_link: bool = True,
        seed: int | None = None,
        data: Any = None,
        value_function: ValueFunction | Observational | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        n_jobs: int | None = -1,
        *,
        nsamples: Budget = "auto",
        max_evals: Budget = "auto",
        batch_size: Budget = "auto",
        l1_reg: L1Reg = None,
        keep_index: bool = False,
        keep_index_ordered: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> None:
        background = as_background(data if masker is None else masker)
        options: dict[str, Any] = {
            "link": link_name(link),
            "value_function": value_function,
            "background_weights": background_weights,
            "groups": groups,
            "feature_names": feature_names,
            "output_names": output_names,
            "n_jobs": n_jobs,
        }
        model = _inner(model)
        self._arguments = {"model": model, "masker": background, **options}
        problems: list[Exception] = []
        with collect_errors(problems, _vocabulary(data)):
            _check_masker(masker, data)
            self._output_name = None
            if output_names is not None and not adapted_to(model, None).function.has_output_axis:
                self._output_name = check_names("output_names", output_names, 1)[0]
                del options["output_names"]
            self._explainer = pkex.Explainer(model, background, **options)
        if problems:
            _check_construction(self, **{**self._arguments, "masker": masker, "data": data})
        raise_together(problems)
        # shap would sample rows of a masker.
        super().__init__(model, None, linearize_link=linearize_link)
        self.masker = background
        self.feature_names = self._explainer.feature_names
        self.output_names = self._explainer.output_names or output_names

    def __repr__(self) -> str:
        """Return the text of the `pkex.Explainer`, with the name of this class."""
        return f"{type(self).__name__}{repr(self._explainer).removeprefix('Explainer')}"

    @with_checked_arguments(CALL, finds_more=_check_rows)
    def __call__(
        self,
        X: ArrayLike,
        *,
        max_evals: Budget = "auto",
        main_effects: bool = False,
        error_bounds: Literal[False] = False,
        batch_size: Budget = "auto",
        outputs: None = None,
        silent: bool = False,
        l1_reg: L1Reg = None,
        interactions: bool | Literal[1, 2] = False,
    ) -> shap.Explanation:
        """Explain rows, or one row.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)
            The names of a Series must be those of the model.
        main_effects : bool, default False
            Whether the explanation has ``main_effects``, the univariate values v({j}) − v(∅).
        interactions : {False, True, 1, 2}, default False
            True and 2 return interactions of pairs in the convention of `shap.ExactExplainer`:
            Shapley–Taylor interactions (STII), half of each at both of its places, with the main
            effects on the diagonal. The matrix adds up to the sum of the Shapley values. Use
            `shap_interaction_values` for lines that add up to Shapley values.
        max_evals, batch_size, silent, l1_reg : optional
            Without effect: options of estimates, and of their progress bar. A warning is issued if
            `l1_reg` would set values of features to 0 in shap.
        error_bounds, outputs : optional
            Not supported: shap's defaults only.

        Returns
        -------
        shap.Explanation
            With ``values`` of shape (n, d) or (n, d, outputs); for interactions, of shape
            (n, d, d) or (n, d, d, outputs). One row has no first axis, as after indexing an
            explanation. (shap 0.51 merges the last two axes of interactions of several outputs,
            and repeats the base value of one row for each feature, which its plots do not support.)

        Raises
        ------
        NotImplementedError
            If error bounds, a selection of outputs, or interactions of more than two features are
            requested.
        ValueError, TypeError, OverflowError
            As for a call of `pkex.Explainer`; also if an option has a value that shap does not
            accept, or that would change the values.
        """
        self._warn_of(l1_reg)
        rows, is_row = rows_of(X, self._columns)
        if are_of_pairs(interactions):
            order = min(2, len(self.feature_names))
            explanation = self._explainer.interactions(rows, index="STII", order=order).to_shap()
        else:
            explanation = self._explainer(rows).to_shap()
        if self._output_name is not None:
            explanation = _with_output_name(explanation, self._output_name)
        if main_effects:
            univariate = self._explainer.interactions(rows, index="Moebius", order=1)
            explanation.main_effects = univariate.values.copy()
        return explanation[0] if is_row else explanation

    def explain_row(self, row: ArrayLike, **options: Any) -> dict[str, Any]:
        """Explain one row of shape (d,), and return the dictionary of shap's explainers.

        Options are those of a call. The keys are "values", "expected_values", "mask_shapes",
        "main_effects" and "clustering".
        """
        explanation = self(as_one_row("row", row, "shap_values", self._columns), **options)
        main_effects = explanation.main_effects
        return {
            "values": explanation.values[0],
            "expected_values": explanation.base_values[0],
            "mask_shapes": [explanation.data[0].shape],
            "main_effects": None if main_effects is None else main_effects[0],
            "clustering": None,
        }

    @with_checked_arguments(CALL, finds_more=_check_rows)
    def explain(
        self,
        row: ArrayLike,
        *,
        nsamples: Budget = "auto",
        l1_reg: L1Reg = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> Float:
        """Return the Shapley values of one row as an array, as in `shap.KernelExplainer.explain`.

        Parameters
        ----------
        row : array-like, Series or table of shape (d,) or (1, d)
        nsamples, l1_reg, silent, gc_collect : optional
            As in `shap_values`.

        Returns
        -------
        ndarray of shape (d,) or (d, outputs)

        Raises
        ------
        ValueError, TypeError, OverflowError
            As for a call; also if there are several rows.
        """
        values: Float = self.shap_values(
            as_one_row("row", row, "shap_values", self._columns), l1_reg=l1_reg
        )[0]
        return values

    @overload
    def shap_values(
        self,
        X: DaskRows,
        *,
        nsamples: Budget = "auto",
        l1_reg: L1Reg = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> DaskArray: ...

    @overload
    def shap_values(
        self,
        X: ArrayLike,
        *,
        nsamples: Budget = "auto",
        l1_reg: L1Reg = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> Float: ...

    @with_checked_arguments(CALL, finds_more=_check_rows)
    def shap_values(
        self,
        X: ArrayLike | DaskRows,
        *,
        nsamples: Budget = "auto",
        l1_reg: L1Reg = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> Float | DaskArray:
        """Return the Shapley values of rows as an array.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)
            The names of a Series must be those of the model. Dask arrays and data frames are
            explained when the result is computed.
        nsamples, l1_reg, silent, gc_collect : optional
            Without effect: options of estimates, and of their progress bar. A warning is issued if
            `l1_reg` would set values of features to 0 in shap.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, outputs), without the first axis for one row
            A dask.array for Dask rows.

        Raises
        ------
        ValueError, TypeError, OverflowError
            As for a call.
        """
        self._warn_of(l1_reg)
        rows, is_row = rows_of(X, self._columns)
        values: Float = self._explainer.shap_values(rows)
        return values[0] if is_row else values

    @with_checked_arguments(CALL, finds_more=_check_rows)
    def shap_interaction_values(self, X: ArrayLike) -> Float:
        """Return interactions of pairs, k-SII, as in `shap.TreeExplainer`.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)

        Returns
        -------
        ndarray of shape (n, d, d) or (n, d, d, outputs), without the first axis for one row
            Half of the interaction of a pair at each of its two places, and the rest of each
            feature's Shapley value on the diagonal: lines add up to Shapley values.

        Raises
        ------
        ValueError, TypeError, OverflowError
            As for a call.
        """
        rows, is_row = rows_of(X, self._columns)
        order = min(2, len(self.feature_names))
        interactions = self._explainer.interactions(rows, index="k-SII", order=order)
        matrices: Float = interactions.to_shap().values
        return matrices[0] if is_row else matrices

    def _warn_of(self, l1_reg: L1Reg) -> None:
        if selects_features(l1_reg, len(self.feature_names)):
            warnings.warn(
                f"l1_reg={l1_reg!r} has no effect: shap sets the values of some features to 0, but "
                "pkex computes exact values of all. Leave it out",
                stacklevel=5,
            )

    @property
    def _columns(self) -> ModelColumns:
        return self._explainer._problem.schema.columns

    @staticmethod
    def supports_model_with_masker(model: Any, masker: Any) -> bool:
        """Return whether `model` can be explained with the background data `masker`."""
        try:
            _check_construction(None, model, masker)
        except PROBLEMS:
            return False
        return True

    def save(
        self,
        out_file: BinaryIO,
        model_saver: str | Callable[[Any, BinaryIO], object] = ".save",
        masker_saver: str | Callable[[Any, BinaryIO], object] = ".save",
    ) -> None:
        """Write the explainer to a file, for `load` or `shap.Explainer.load`.

        Parameters
        ----------
        out_file : binary file
        model_saver, masker_saver : callable, optional
            Called with the model or the background data, and the file, to write them; by default
            they are pickled.
        """
        Serializable.save(self, out_file)
        write_arguments(self._arguments, out_file, {"model": model_saver, "masker": masker_saver})

    @classmethod
    def load(
        cls,
        in_file: BinaryIO,
        model_loader: Callable[[BinaryIO], Any] | None = None,
        masker_loader: Callable[[BinaryIO], Any] | None = None,
        instantiate: bool = True,
    ) -> Any:
        """Read an explainer from a file that `save` has written.

        Loading executes code in the file, which is a pickle: load only files that you trust.

        Parameters
        ----------
        in_file : binary file
        model_loader, masker_loader : callable, optional
            Called with the file, to read what `model_saver` or `masker_saver` has written; ignored
            for pickled arguments (shap 0.46 has its own loaders as defaults).
        instantiate : bool, default True
            False returns the arguments of the explainer, after the type has been read.

        Returns
        -------
        KernelMachineExplainer or dict

        Raises
        ------
        ValueError
            If a saver was used, and the loader is missing.
        """
        if instantiate:
            return cls._instantiated_load(
                in_file, model_loader=model_loader, masker_loader=masker_loader
            )
        return read_arguments(in_file, {"model": model_loader, "masker": masker_loader})


def _with_output_name(explanation: shap.Explanation, name: str) -> shap.Explanation:
    return shap.Explanation(
        explanation.values,
        explanation.base_values,
        explanation.data,
        feature_names=explanation.feature_names,
        output_names=name,
    )
