"""An explainer with the arguments and results of shap's own: exact values of kernel machines."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import cloudpickle
    import shap
    from shap._serializable import Serializable
    from shap.utils._legacy import DenseData
except ImportError as error:
    raise ImportError("pkex.integrations.shap needs shap: pip install 'pkex[shap]'") from error

import pkex
from pkex.adapters import adapt
from pkex.integrations import as_row
from pkex.options import check_choice, check_names, with_known_keywords

__all__ = ["KernelMachineExplainer"]

_Float = NDArray[np.float64]

# What may be saved and loaded in a way of one's own.
_SAVED_APART = ("model", "masker")


class KernelMachineExplainer(shap.Explainer):  # type: ignore[misc]
    """Exact Shapley values of a kernel machine, in place of a `shap.KernelExplainer`.

    With background data the values are those that `shap.KernelExplainer` and
    `shap.PermutationExplainer` estimate by sampling, and `shap.ExactExplainer` finds by trying all
    coalitions. The arguments are those of `shap.Explainer` and `shap.KernelExplainer`, as far as
    they have a meaning here, and those of `pkex.Explainer`.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. A plain function, such as a lambda that calls ``model.predict``,
        hides the model, and is refused.
    masker : array-like, DataFrame, sparse matrix, shap.kmeans summary or masker, optional
        The background rows; all of them are used. (`shap.Explainer` takes 100 of an array's, and
        so does a masker unless told otherwise.) Without, the game is pkex's neutral one.
    link : "identity" or shap.links.identity, default shap.links.identity
        Others are refused: values add up to the model's output, and to no function of it.
    algorithm : {"auto", "exact"}, default "auto"
        Both mean the same.
    output_names, feature_names : sequence of str, optional
        Of a single output the names are one.
    linearize_link, seed : optional
        Without effect: the link is linear, and nothing is random.
    data : array-like, optional
        Another name for `masker`, that of `shap.KernelExplainer`.
    value_function, background_weights, groups, n_jobs : optional
        As in `pkex.Explainer`.

    Raises
    ------
    UnsupportedModelError
        If the model is not understood in every part.
    ValueError, TypeError
        If an argument has another value than those above, or is no background.

    See Also
    --------
    pkex.Explainer : The explainer behind, which needs no shap.

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

    Interactions of pairs, as shap has them of trees:

    >>> matrices = explainer.shap_interaction_values(X)
    >>> matrices.shape
    (3, 2, 2)
    >>> bool(abs(matrices.sum(axis=2) - explanation.values).max() < 1e-12)
    True
    """

    # shap's `load` passes on only what can be given by position: so can everything here.
    @with_known_keywords
    def __init__(
        self,
        model: Any,
        masker: Any = None,
        link: Any = shap.links.identity,
        algorithm: str = "auto",
        output_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        linearize_link: bool = True,
        seed: int | None = None,
        data: Any = None,
        value_function: str | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        if masker is not None and data is not None:
            raise TypeError("masker and data are two names of the background; give one of them")
        background = data if masker is None else masker
        if isinstance(model, shap.models.Model):
            model = model.inner_model
        _check_link(link)
        check_choice("algorithm", algorithm, ("auto", "exact"))
        _check_options(linearize_link=linearize_link, seed=seed)
        _check_masker(background)
        options: dict[str, Any] = {
            "value_function": value_function,
            "background_weights": background_weights,
            "groups": groups,
            "feature_names": feature_names,
            "output_names": output_names,
            "n_jobs": n_jobs,
        }
        self._arguments = {"model": model, "masker": background, **options}
        self._output_name = None
        if output_names is not None and not adapt(model).expansion.has_output_axis:
            self._output_name = check_names("output_names", output_names, 1)[0]
            del options["output_names"]
        self._explainer = pkex.Explainer(model, background, **options)
        # Given a masker, shap would take a sample of it.
        super().__init__(model, None, linearize_link=linearize_link)
        self.masker = background
        self.feature_names = self._explainer.feature_names
        self.output_names = self._explainer.output_names or output_names

    @property
    def expected_value(self) -> float | _Float:
        """The value of the empty coalition: a float, or of shape (outputs,)."""
        return self._explainer.expected_value

    @property
    def data(self) -> DenseData | None:
        """The background as `shap.KernelExplainer` has it, with ``data`` and ``weights``."""
        rows, weights = self._explainer.background, self._explainer.background_weights
        if rows is None or weights is None:
            return None
        names = self.feature_names
        if len(names) < rows.shape[1]:  # of groups
            names = [str(column) for column in range(rows.shape[1])]
        return DenseData(rows, list(names), None, weights.copy())

    @with_known_keywords
    def __call__(
        self,
        X: ArrayLike,
        *,
        max_evals: Any = "auto",
        main_effects: bool = False,
        error_bounds: bool = False,
        batch_size: Any = "auto",
        outputs: None = None,
        silent: bool = False,
        l1_reg: Any = None,
        interactions: bool | int = False,
    ) -> shap.Explanation:
        """Explain rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        main_effects : bool, default False
            Whether the explanation has ``main_effects``, what a feature does alone: v({j}) − v(∅).
        interactions : {False, True, 1, 2}, default False
            True and 2 are interactions of pairs by `shap.ExactExplainer`'s convention. These are
            Shapley–Taylor interactions (STII), half of each at both of its places, with the main
            effects on the diagonal; the sum of the matrix is that of the Shapley values. For lines
            that add up to Shapley values there is `shap_interaction_values`.
        max_evals, batch_size, silent, l1_reg : optional
            Without effect: options of estimates, and of their progress bar.
        error_bounds, outputs : optional
            Refused, unless they are shap's defaults.

        Returns
        -------
        shap.Explanation
            With ``values`` of shape (n, d) or (n, d, outputs), and of interactions of shape
            (n, d, d) or (n, d, d, outputs). (Of several outputs, shap 0.51 puts the last two axes
            of interactions into one.)

        Raises
        ------
        NotImplementedError
            If error bounds, a choice of outputs, or interactions of more than two are asked for.
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`; and if an option without effect has a value that has
            none in shap either, or would change the values.
        """
        _check_options(
            max_evals=max_evals, batch_size=batch_size, silent=silent, main_effects=main_effects
        )
        _check_l1_reg(l1_reg, len(self.feature_names))
        _refuse(error_bounds, outputs)
        if _are_of_pairs(interactions):
            order = min(2, len(self.feature_names))
            explanation = self._explainer.interactions(X, index="STII", order=order).to_shap()
        else:
            explanation = self._explainer(X).to_shap()
        if self._output_name is not None:
            explanation = _with_output_name(explanation, self._output_name)
        if main_effects:
            alone = self._explainer.interactions(X, index="Moebius", order=1)
            explanation.main_effects = alone.values.copy()
        return explanation

    def explain_row(self, row: ArrayLike, **options: Any) -> dict[str, Any]:
        """Explain one row of shape (d,), and return what shap's own explainers do for each.

        Options are those of a call. The dictionary has "values", "expected_values", "mask_shapes",
        "main_effects" and "clustering".
        """
        explanation = self(as_row(row), **options)
        alone = explanation.main_effects
        return {
            "values": explanation.values[0],
            "expected_values": explanation.base_values[0],
            "mask_shapes": [explanation.data[0].shape],
            "main_effects": None if alone is None else alone[0],
            "clustering": None,
        }

    @with_known_keywords
    def shap_values(
        self,
        X: ArrayLike,
        *,
        nsamples: Any = "auto",
        l1_reg: Any = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> _Float:
        """Return the bare Shapley values of rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)
            Of a Series with names, these must be the model's.
        nsamples, l1_reg, silent, gc_collect : optional
            Without effect: options of estimates, and of their progress bar.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, outputs), without the first axis for one row

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in a call.
        """
        _check_options(nsamples=nsamples, silent=silent, gc_collect=gc_collect)
        _check_l1_reg(l1_reg, len(self.feature_names))
        is_row = np.ndim(X) == 1
        values = self._explainer.shap_values(as_row(X) if is_row else X)
        return values[0] if is_row else values

    @with_known_keywords
    def shap_interaction_values(self, X: ArrayLike) -> _Float:
        """Return interactions of pairs as `shap.TreeExplainer` does: k-SII.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)

        Returns
        -------
        ndarray of shape (n, d, d) or (n, d, d, outputs), without the first axis for one row
            Half of the interaction of a pair at each of its two places, and on the diagonal the
            rest of each feature's Shapley value: lines add up to Shapley values.

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in a call.
        """
        is_row = np.ndim(X) == 1
        interactions = self._explainer.interactions(
            as_row(X) if is_row else X, index="k-SII", order=min(2, len(self.feature_names))
        )
        matrices: _Float = interactions.to_shap().values
        return matrices[0] if is_row else matrices

    @staticmethod
    def supports_model_with_masker(model: Any, masker: Any) -> bool:
        """Return whether `model` can be explained against the background `masker`."""
        try:
            KernelMachineExplainer(model, masker)
        # UnsupportedModelError is a TypeError.
        except (TypeError, ValueError, NotImplementedError, OverflowError):
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
            Called with the model or the background, and the file, to write it there; pickled
            otherwise.
        """
        Serializable.save(self, out_file)
        savers = dict(zip(_SAVED_APART, (model_saver, masker_saver), strict=True))
        for name, saver in savers.items():
            if not callable(saver) and saver not in (".save", "auto"):
                raise ValueError(f"{name}_saver must be a function or '.save'; got {saver!r}")
        apart = {name: saver for name, saver in savers.items() if callable(saver)}
        cloudpickle.dump({k: v for k, v in self._arguments.items() if k not in apart}, out_file)
        for name, saver in apart.items():
            saver(self._arguments[name], out_file)

    @classmethod
    def load(
        cls,
        in_file: BinaryIO,
        model_loader: Callable[[BinaryIO], Any] | None = None,
        masker_loader: Callable[[BinaryIO], Any] | None = None,
        instantiate: bool = True,
    ) -> Any:
        """Read an explainer from a file that `save` has written.

        Parameters
        ----------
        in_file : binary file
        model_loader, masker_loader : callable, optional
            Called with the file, to read what `model_saver` or `masker_saver` has written; without
            effect on what was pickled (shap 0.46 has loaders of its own as defaults).
        instantiate : bool, default True
            False returns the arguments of the explainer; the type has then been read already.

        Returns
        -------
        KernelMachineExplainer or dict

        Raises
        ------
        ValueError
            If a saver was given, and no loader is.
        """
        if instantiate:
            return cls._instantiated_load(
                in_file, model_loader=model_loader, masker_loader=masker_loader
            )
        arguments = cloudpickle.load(in_file)
        loaders = dict(zip(_SAVED_APART, (model_loader, masker_loader), strict=True))
        for name in _SAVED_APART:
            if name in arguments:
                continue
            loader = loaders[name]
            if loader is None:
                raise ValueError(f"the {name} was saved by a {name}_saver; give its {name}_loader")
            arguments[name] = loader(in_file)
        return arguments


def _with_output_name(explanation: shap.Explanation, name: str) -> shap.Explanation:
    return shap.Explanation(
        explanation.values,
        explanation.base_values,
        explanation.data,
        feature_names=explanation.feature_names,
        output_names=name,
    )


def _check_link(link: Any) -> None:
    if link is not shap.links.identity and not (isinstance(link, str) and link == "identity"):
        raise ValueError(
            "link must be 'identity' or shap.links.identity: values add up to the model's own "
            f"output, not to another function of it; got {link!r}. Arguments by position are those "
            "of shap.Explainer, of which link is the third"
        )


def _check_masker(masker: Any) -> None:
    """Refuse maskers of rows that make another game than Shapley's."""
    for name in ("clustering", "partition"):
        structure = getattr(masker, name, None)
        is_masker = isinstance(masker, shap.maskers.Masker)
        # That of a masker of text is a method.
        if is_masker and structure is not None and not callable(structure):
            raise NotImplementedError(
                f"a masker with a {name} asks for Owen values, which are not available; pass "
                "shap.maskers.Independent(data) or the data itself, and groups={'name': [columns]} "
                "for columns that belong together"
            )


def _check_l1_reg(l1_reg: Any, n_features: int) -> None:
    """Refuse what leaves out features; shap's default stands for no choice."""
    number = re.fullmatch(r"num_features\((\d+)\)", l1_reg) if isinstance(l1_reg, str) else None
    if l1_reg in (None, False, "auto", "num_features(10)"):
        return
    if number is None or int(number[1]) < n_features:
        raise ValueError(
            "l1_reg sets the values of some features to 0, and cannot be had: values are exact for "
            f"all of them; leave it out, or l1_reg=False; got {l1_reg!r}"
        )


def _check_options(**options: Any) -> None:
    """Refuse values that have no meaning in shap either."""
    for name, value in options.items():
        if name in ("silent", "gc_collect", "linearize_link", "main_effects"):
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False; got {value!r}")
        elif value is not None and (name == "seed" or value != "auto"):
            _check_count(name, value, 0 if name == "seed" else 1)


def _check_count(name: str, value: Any, least: int) -> None:
    try:
        is_valid = operator.index(value) >= least and not isinstance(value, bool)
    except TypeError:
        is_valid = False
    if not is_valid:
        raise ValueError(
            f"{name} has no effect, since nothing is sampled, but must be a number as in shap, at "
            f"least {least}; got {value!r}"
        )


def _are_of_pairs(interactions: Any) -> bool:
    """Return whether interactions of pairs are asked for; shap tells True from 1."""
    if isinstance(interactions, bool | np.bool_):
        return bool(interactions)
    if isinstance(interactions, int | np.integer) and interactions in (1, 2):
        return bool(interactions == 2)
    raise NotImplementedError(
        "interactions are of pairs (True or 2) or none (False or 1); others, of any order, are in "
        "pkex.Explainer(model, background).interactions(X, index=..., order=...); got "
        f"{interactions!r}"
    )


def _refuse(error_bounds: object, outputs: object) -> None:
    if error_bounds is not False:
        raise NotImplementedError("error_bounds: the values are exact, and have none")
    if outputs is not None:
        raise NotImplementedError(
            "outputs cannot be chosen in a call; choose among those of the explanation, as in "
            "explanation[:, :, 'name'], or make a pkex.Explainer(model, outputs=...)"
        )
