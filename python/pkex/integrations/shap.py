"""An explainer with the arguments and results of shap's own, for exact values of kernel machines.

Examples
--------
>>> import shap
>>> from sklearn.svm import SVR
>>> from pkex.integrations.shap import KernelMachineExplainer
>>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
>>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
>>> explanation = KernelMachineExplainer(model.predict, X)(X)
>>> type(explanation) is shap.Explanation
True
>>> total = explanation.values.sum(axis=1) + explanation.base_values
>>> bool(abs(total - model.predict(X)).max() < 1e-12)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import shap
    from shap._serializable import Deserializer, Serializable, Serializer
except ImportError as error:
    raise ImportError("pkex.integrations.shap needs shap: pip install 'pkex[shap]'") from error

import pkex
from pkex.options import check_choice, with_known_keywords

__all__ = ["KernelMachineExplainer"]

_Float = NDArray[np.float64]

_BLOCK = "pkex.integrations.shap.KernelMachineExplainer"


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
    See `pkex.integrations.shap`.
    """

    # shap's `load` passes on only what can be given by position: so can everything here.
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
        _check_masker(background)
        self._arguments = {
            "model": model,
            "masker": background,
            "output_names": output_names,
            "feature_names": feature_names,
            "value_function": value_function,
            "background_weights": background_weights,
            "groups": groups,
            "n_jobs": n_jobs,
        }
        self._explainer = pkex.Explainer(
            model,
            background,
            value_function=value_function,
            background_weights=background_weights,
            groups=groups,
            feature_names=feature_names,
            output_names=output_names,
            n_jobs=n_jobs,
        )
        # Given a masker, shap would take a sample of it.
        super().__init__(
            model,
            None,
            link=shap.links.identity,
            output_names=output_names,
            feature_names=feature_names,
            linearize_link=linearize_link,
        )
        self.masker = background

    @property
    def expected_value(self) -> float | _Float:
        """The value of the empty coalition: a float, or of shape (outputs,)."""
        return self._explainer.expected_value

    @with_known_keywords
    def __call__(
        self,
        X: ArrayLike,
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
        max_evals, batch_size, silent, l1_reg : optional
            Without effect: options of estimates, and of their progress bar.
        main_effects, error_bounds, outputs, interactions : optional
            Refused, unless they are shap's defaults.

        Returns
        -------
        shap.Explanation
            With ``values`` of shape (n, d) or (n, d, outputs).

        Raises
        ------
        NotImplementedError
            If main effects, error bounds or interactions are asked for.
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
        """
        _refuse(
            main_effects=main_effects,
            error_bounds=error_bounds,
            outputs=outputs is not None,
            interactions=interactions is not False,
        )
        return self._explainer(X).to_shap()

    @with_known_keywords
    def shap_values(
        self,
        X: ArrayLike,
        nsamples: Any = "auto",
        l1_reg: Any = None,
        silent: bool = False,
        gc_collect: bool = False,
    ) -> _Float:
        """Return the bare Shapley values of rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or one row of shape (d,)
        nsamples, l1_reg, silent, gc_collect : optional
            Without effect: options of estimates, and of their progress bar.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, outputs), without the first axis for one row

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
        """
        if np.ndim(X) == 1 and not hasattr(X, "tocsr"):
            values: _Float = self._explainer.shap_values(np.asarray(X)[None])[0]
            return values
        return self._explainer.shap_values(X)

    def shap_interaction_values(self, X: ArrayLike) -> _Float:
        """Raise NotImplementedError: interactions are planned."""
        _refuse(interactions=True)
        raise AssertionError

    @staticmethod
    def supports_model_with_masker(model: Any, masker: Any) -> bool:
        """Return whether `model` can be explained against the background `masker`."""
        try:
            KernelMachineExplainer(model, masker)
        except (TypeError, ValueError):  # UnsupportedModelError is a TypeError
            return False
        return True

    def save(self, out_file: BinaryIO, *_: Any) -> None:
        """Write the explainer to a file, for `load` or `shap.Explainer.load`.

        Parameters
        ----------
        out_file : binary file
        """
        Serializable.save(self, out_file)
        with Serializer(out_file, _BLOCK, version=0) as block:
            block.save("arguments", self._arguments)

    @classmethod
    def load(cls, in_file: BinaryIO, *_: Any, instantiate: bool = True, **__: Any) -> Any:
        """Read an explainer from a file that `save` has written.

        Parameters
        ----------
        in_file : binary file
        instantiate : bool, default True
            False returns the arguments of the explainer; the type has then been read already.

        Returns
        -------
        KernelMachineExplainer or dict
        """
        if instantiate:
            return cls._instantiated_load(in_file)
        with Deserializer(in_file, _BLOCK, min_version=0, max_version=0) as block:
            return block.load("arguments")


def _check_link(link: Any) -> None:
    if link is not shap.links.identity and not (isinstance(link, str) and link == "identity"):
        raise ValueError(
            "link must be 'identity' or shap.links.identity: values add up to the model's own "
            f"output, not to another function of it; got {link!r}"
        )


def _check_masker(masker: Any) -> None:
    """Refuse maskers that make another game than Shapley's."""
    for name in ("clustering", "partition"):
        if isinstance(masker, shap.maskers.Masker) and getattr(masker, name, None) is not None:
            raise NotImplementedError(
                f"a masker with a {name} asks for Owen values, which are not available; pass "
                "shap.maskers.Independent(data) or the data itself, and groups={'name': [columns]} "
                "for columns that belong together"
            )


def _refuse(**asked: bool) -> None:
    for name, is_asked in asked.items():
        if not is_asked:
            continue
        if name == "outputs":
            raise NotImplementedError(
                "outputs cannot be chosen in a call; choose among those of the explanation, as in "
                "explanation[:, :, 'name'], or make a pkex.Explainer(model, outputs=...)"
            )
        if name == "error_bounds":
            raise NotImplementedError("error_bounds: the values are exact, and have none")
        raise NotImplementedError(
            f"{name} cannot be had yet (interactions are planned); available today are Shapley "
            "values of single columns and of groups of columns"
        )
