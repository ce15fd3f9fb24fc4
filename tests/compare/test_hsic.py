"""pkex.hsic: exactness, targets, groups, the normalised index, permutations."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from brute_force_statistics import SumOfProducts, attributed, hsic_statistic
from mpmath import mp
from sklearn.metrics.pairwise import rbf_kernel

import pkex
from pkex.compare.pairs.normalizer import Normalizer
from pkex.kernels import RBF, Categorical, Cauchy, Laplacian

N = 25


def rbf(columns, length_scale=1.5):
    return SumOfProducts(((1.0, [(j, "rbf", length_scale) for j in range(columns)]),))


KERNELS = {
    "RBF": (RBF(1.5), rbf(5)),
    "sum": (
        0.5 * Cauchy(2.0) + Laplacian(3.0).on([1, 2, 3]),
        SumOfProducts(
            (
                (0.5, [(j, "cauchy", 2.0) for j in range(5)]),
                (1.0, [(j, "laplacian", 3.0) for j in (1, 2, 3)]),
            )
        ),
    ),
}
GROUPS = {"single": (None, [0, 1, 2, 3, 4]), "grouped": ({"a": [3, "x0"]}, [0, 1, 2, 0, 3])}
CONVENTIONS = ["marginal", "neutral"]
DELTA = SumOfProducts(((1.0, [(0, "delta", 0.0)]),))


@pytest.fixture
def x(rng):
    return rng.normal(size=(N, 5))


@pytest.fixture
def numbers(rng, x):
    return np.column_stack([np.sin(x[:, 0]) + 0.1 * rng.normal(size=N), x[:, 1] * x[:, 2]])


@pytest.fixture
def labels(x):
    return np.array(["low", "middle", "high"])[np.digitize(x[:, 0] + x[:, 3], [-0.5, 0.8])]


def numbered(labels):
    return np.unique(labels, return_inverse=True)[1][:, None].astype(float)


def assert_attributed(result, expected, tolerance=1e-12):
    values, alone, statistic = expected
    np.testing.assert_allclose(result.values, values, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.alone, alone, rtol=0, atol=tolerance)
    assert result.statistic == pytest.approx(statistic, rel=0, abs=tolerance)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("target", ["numbers", "labels"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_values_equal_brute_force(request, x, kernel, target, estimator, convention, groups):
    (pkex_kernel, reference), (given, players) = KERNELS[kernel], GROUPS[groups]
    y = request.getfixturevalue(target)
    target_matrix = rbf(2)(y) if target == "numbers" else DELTA(numbered(y))
    target_kernel = RBF(1.5) if target == "numbers" else None
    options = {"kernel": pkex_kernel, "target_kernel": target_kernel, "estimator": estimator}
    options |= {"groups": given, "value_function": convention}
    statistic = hsic_statistic(target_matrix, estimator)
    expected = attributed(statistic, reference, x, players, marginal=convention == "marginal")
    result = pkex.hsic(x, y, **options)
    assert result.value_function == convention
    assert_attributed(result, expected)
    # And with permutations.
    assert_attributed(pkex.hsic(x, y, n_permutations=3, random_state=0, **options), expected)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_values_of_the_targets_columns_equal_brute_force(rng, x, estimator, convention):
    y = np.column_stack([x[:, 0], rng.normal(size=(N, 2)), x[:, 1] ** 2, rng.normal(size=N)])
    convention = {"value_function": convention}
    is_marginal = {"marginal": convention["value_function"] == "marginal"}
    options = {"kernel": RBF(1.5), "target_kernel": Cauchy(2.0), "estimator": estimator}
    options |= convention
    cauchy = SumOfProducts(((1.0, [(j, "cauchy", 2.0) for j in range(5)]),))
    statistic = hsic_statistic(rbf(5)(x), estimator)
    for given, players in GROUPS.values():
        groups = None if given is None else {"a": [3, "y0"]}
        result = pkex.hsic(x, y, attribute="y", groups=groups, **options)
        assert_attributed(result, attributed(statistic, cauchy, y, players, **is_marginal))
    assert result.feature_names == ["a", "y1", "y2", "y4"]
    of_x = pkex.hsic(x, y, **options)
    assert of_x.statistic == pytest.approx(result.statistic, abs=1e-14)
    exchanged = pkex.hsic(
        y, x, kernel=Cauchy(2.0), target_kernel=RBF(1.5), estimator=estimator, **convention
    )
    plain = pkex.hsic(x, y, attribute="y", **options)
    np.testing.assert_array_equal(plain.values, exchanged.values)
    assert plain.kernel == of_x.kernel == exchanged.target_kernel


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_values_of_labels_beside_numbers_equal_brute_force(x, labels, estimator):
    other = np.where(x[:, 4] > 0.0, "up", "down")
    y = pd.DataFrame({"class": labels, "size": x[:, 1], "way": other, "age": x[:, 2]})
    coded = np.column_stack([numbered(labels), x[:, 1], numbered(other), x[:, 2]])
    options = {"kernel": RBF(1.5), "estimator": estimator, "value_function": "neutral"}
    result = pkex.hsic(x, y, attribute="y", **options)
    lengths = result.target_kernel.kernels[0].kernel.length_scale
    mixed = SumOfProducts(
        (
            (
                1.0,
                [(j, "rbf", length) for j, length in zip((1, 3), lengths, strict=True)]
                + [(j, "delta", 0.0) for j in (0, 2)],
            ),
        )
    )
    statistic = hsic_statistic(rbf(5)(x), estimator)
    assert_attributed(result, attributed(statistic, mixed, coded, [0, 1, 2, 3]))
    grouped = pkex.hsic(x, y, attribute="y", groups={"a": ["class", "age"]}, **options)
    assert_attributed(grouped, attributed(statistic, mixed, coded, [0, 1, 2, 0]))
    # And as the other side.
    of_y = hsic_statistic(mixed(coded), estimator)
    by_x = pkex.hsic(x, y, **options)
    assert_attributed(by_x, attributed(of_y, rbf(5), x, [0, 1, 2, 3, 4]))


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("attribute", ["x", "y"])
def test_values_of_a_single_feature_and_of_labels_equal_brute_force(
    x, labels, attribute, estimator
):
    one = x[:, :1]
    result = pkex.hsic(one, labels, kernel=RBF(1.5), attribute=attribute, estimator=estimator)
    sides = [(rbf(1), one), (DELTA, numbered(labels))]
    (mine, rows), (other, targets) = sides if attribute == "x" else sides[::-1]
    expected = attributed(hsic_statistic(other(targets), estimator), mine, rows, [0])
    assert_attributed(result, expected)
    of_x, of_y = (hsic_statistic(side(table), estimator) for side, table in sides)
    k, l = rbf(1)(one), DELTA(numbered(labels))  # noqa: E741
    assert result.r2 == pytest.approx(of_x(l) / math.sqrt(of_x(k) * of_y(l)), rel=1e-10)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("n", [40, 300])
def test_values_of_arranged_rows_are_the_same(rng, n, estimator):
    x, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    plain = pkex.hsic(x, y, estimator=estimator)
    tested = pkex.hsic(x, y, estimator=estimator, n_permutations=5, random_state=0)
    for name in ("values", "alone", "standard_errors"):
        np.testing.assert_allclose(
            getattr(tested, name), getattr(plain, name), rtol=1e-10, atol=1e-16
        )


@pytest.mark.filterwarnings("ignore:target_kernel is nearly 1")
@pytest.mark.parametrize("length_scale", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_wide_target_kernels_lose_no_digits(rng, estimator, length_scale):
    n = 12
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 1))
    kernels = {"kernel": RBF(1.5), "target_kernel": RBF(length_scale)}
    result = pkex.hsic(x, y, **kernels, estimator=estimator)
    with mp.workdps(60):

        def matrix(rows, scale):
            def kernel(a, b):
                pairs = zip(rows[a].tolist(), rows[b].tolist(), strict=True)
                squares = mp.fsum((mp.mpf(u) - mp.mpf(v)) ** 2 for u, v in pairs)
                return mp.exp(-squares / (2 * mp.mpf(scale) ** 2))

            return np.array([[kernel(a, b) for b in range(n)] for a in range(n)])

        both = [matrix(x, 1.5), matrix(y, length_scale)]
        if estimator == "biased":
            k, l = (m - m.mean(0) - m.mean(1)[:, None] + m.mean() for m in both)  # noqa: E741
            statistic = (k * l).sum() / (n - 1) ** 2
        else:
            k, l = (m - np.diag(np.diag(m)) for m in both)  # noqa: E741
            statistic = (
                (k * l).sum()
                + k.sum() * l.sum() / ((n - 1) * (n - 2))
                - 2 * k.sum(0) @ l.sum(0) / (n - 2)
            ) / (n * (n - 3))
    assert result.statistic == pytest.approx(float(statistic), rel=1e-12)
    # In the limit l is a multiple of −(u − v)², and so are errors and values.
    limit = pkex.hsic(x, y, kernel=RBF(1.5), target_kernel=RBF(1e4), estimator=estimator)
    shrunk = (1e4 / length_scale) ** 2
    for name in ("values", "alone", "standard_errors"):
        expected = shrunk * getattr(limit, name)
        scale = np.abs(expected).max()
        rtol = 1e-2 if length_scale < 1e4 else 1e-6
        np.testing.assert_allclose(getattr(result, name), expected, rtol=0, atol=rtol * scale)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_the_statistic_and_the_index_equal_those_of_scikit_learns_kernels(rng, estimator):
    x, y = rng.normal(size=(300, 9)), rng.normal(size=(300, 2))
    k, l = rbf_kernel(x, gamma=1 / 18), rbf_kernel(y, gamma=1 / 8)  # noqa: E741
    result = pkex.hsic(x, y, kernel=RBF(3.0), target_kernel=RBF(2.0), estimator=estimator)
    of_x, of_y = hsic_statistic(k, estimator), hsic_statistic(l, estimator)
    assert result.statistic == pytest.approx(of_x(l), rel=0, abs=1e-12)
    assert result.r2 == pytest.approx(of_x(l) / math.sqrt(of_x(k) * of_y(l)), rel=1e-10)


# --- relations ---


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_the_index_of_a_feature_alone_is_that_of_its_columns(x, numbers, estimator, groups):
    options = {"target_kernel": RBF(2.0), "estimator": estimator}
    given, players = GROUPS[groups]
    for convention in CONVENTIONS:
        kernel = 3.0 * RBF(1.5)
        found = pkex.hsic(
            x, numbers, kernel=kernel, groups=given, value_function=convention, **options
        ).alone_r2
        columns = [np.flatnonzero(np.array(players) == j) for j in range(max(players) + 1)]
        expected = [pkex.hsic(x[:, c], numbers, kernel=kernel, **options).r2 for c in columns]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_index_of_a_feature_that_plays_no_part_is_not_a_number(x, numbers):
    result = pkex.hsic(x, numbers, kernel=RBF(1.5).on([0, 2]) + Cauchy(2.0).on([0, 3]))
    np.testing.assert_array_equal(np.isnan(result.alone_r2), [False, True, False, False, True])
    itself = pkex.hsic(x[:, :2], x[:, 0], kernel=RBF(1.5), target_kernel=RBF(1.5))
    assert itself.alone_r2[0] == pytest.approx(1.0, rel=1e-12)
    assert 0.0 < itself.alone_r2[1] < 0.5


def test_the_index_is_one_for_equal_kernels_and_symmetric(rng, x):
    # The scale of y and its kernel's go together.
    same = pkex.hsic(x, 2.0 * x, kernel=RBF(1.5), target_kernel=RBF(3.0))
    assert same.r2 == pytest.approx(1.0, abs=1e-12)
    y = rng.normal(size=(N, 3))
    forth = pkex.hsic(x, y, kernel=RBF(2.0), target_kernel=RBF(3.0))
    back = pkex.hsic(y, x, kernel=RBF(3.0), target_kernel=RBF(2.0))
    assert forth.r2 == pytest.approx(back.r2, rel=1e-12)
    assert 0.0 < forth.r2 < 1.0


def test_the_biased_statistic_of_two_classes_is_a_multiple_of_mmd(rng):
    # L = 1 − (s_a − s_b)² for the indicator s, so that HSIC = 2 (nm / N)² MMD² / (N − 1)².
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) + 0.5
    labels = np.repeat(["x", "y"], [30, 20])
    of_mmd = pkex.mmd(x, y, kernel=RBF(2.0), estimator="biased")
    of_hsic = pkex.hsic(np.concatenate([x, y]), labels, kernel=RBF(2.0))
    factor = 2.0 * (30 * 20 / 50) ** 2 / 49**2
    np.testing.assert_allclose(of_hsic.values, factor * of_mmd.values, rtol=1e-12)
    np.testing.assert_allclose(of_hsic.alone, factor * of_mmd.alone, rtol=1e-12)


def test_a_constant_feature_and_a_constant_target_have_no_part(x):
    y = x[:, 0]
    x = x.copy()
    x[:, 2] = 7.0
    with pytest.warns(UserWarning, match=r"column 'x2' of X is constant and contributes"):
        assert pkex.hsic(x, y).values[2] == 0.0
    for same in ("same", 3.0, 0, [2.0, 1.0]):
        with pytest.warns(UserWarning, match="of y (is|are) constant"):
            result = pkex.hsic(x[:, :2], [same] * N)
        np.testing.assert_allclose(result.values, 0.0, atol=1e-15)
        assert math.isnan(result.r2)


# --- targets ---


def test_names_of_classes_do_not_matter(x, labels):
    plain = pkex.hsic(x, labels)
    renamed = pkex.hsic(x, np.array([{"low": "z", "middle": "a"}.get(k, "q") for k in labels]))
    np.testing.assert_array_equal(renamed.values, plain.values)
    assert plain.target_kernel == Categorical()
    assert plain.target_bandwidth == "labels: 1 if equal, else 0"


LABELLED = {
    "list": list,
    "strings": np.array,
    "objects": lambda labels: np.array(labels, dtype=object),
    "column": lambda labels: np.array(labels)[:, None],
    "bytes": lambda labels: np.array(labels).astype(bytes),
    "pandas": lambda labels: pd.Series(labels, name="class"),
    "pandas categories": lambda labels: pd.Series(labels, dtype="category"),
    "pandas numbers as categories": lambda labels: pd.Series(
        [len(label) for label in labels], dtype="category"
    ),
    "pandas frame": lambda labels: pd.DataFrame({"class": labels}),
    "polars": lambda labels: pl.Series("class", labels),
    "polars categories": lambda labels: pl.Series("class", labels, dtype=pl.Categorical),
    "polars frame": lambda labels: pl.DataFrame({"class": labels}),
}


@pytest.mark.parametrize("form", LABELLED)
def test_labels_come_in_many_forms(x, labels, form):
    result = pkex.hsic(x, LABELLED[form](labels.tolist()))
    np.testing.assert_array_equal(result.values, pkex.hsic(x, labels).values)
    assert result.target_kernel == Categorical()


@pytest.mark.parametrize(
    "form",
    [np.array, list, pd.Series, pl.Series, lambda y: pd.Series(y, dtype="boolean")],
    ids=["numpy", "list", "pandas", "polars", "nullable pandas"],
)
def test_booleans_are_labels(x, form):
    assert pkex.hsic(x, form((x[:, 0] > 0.0).tolist())).target_kernel == Categorical()


@pytest.mark.filterwarnings("ignore:y holds integers of only 3 different values")
@pytest.mark.parametrize("dtype", [np.int64, np.float32, object])
def test_integers_are_numbers_unless_the_kernel_says_otherwise(x, dtype):
    y = np.digitize(x[:, 0], [-0.5, 0.8]).astype(dtype)
    as_numbers = pkex.hsic(x, y)
    assert isinstance(as_numbers.target_kernel, RBF)
    assert "median distance" in as_numbers.target_bandwidth
    as_labels = pkex.hsic(x, y, target_kernel=Categorical())
    np.testing.assert_array_equal(as_labels.values, pkex.hsic(x, y.astype(str)).values)
    assert as_labels.target_bandwidth is None


@pytest.mark.parametrize(
    "form",
    [np.array, list, pd.Series, lambda y: pd.Series(y, dtype="Int64"), lambda y: y.astype(object)],
    ids=["array", "list", "Series", "nullable Series", "objects"],
)
@pytest.mark.parametrize("n_classes", [3, 7])
def test_integers_of_few_values_are_warned_of_with_how_to_have_them_as_classes(
    rng, form, n_classes
):
    x, y = rng.normal(size=(50, 2)), rng.permutation(50) % n_classes
    message = rf"y holds integers of only {n_classes} different values.*Categorical\(\).* strings"
    with pytest.warns(UserWarning, match=message):
        pkex.hsic(x, form(y))
    pkex.hsic(x, form(y), target_kernel=Categorical())
    for said in (y.astype(float), y.astype(str), pd.Series(y, dtype="category")):
        pkex.hsic(x, said)


def test_two_numbers_are_as_good_as_two_labels(rng):
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    numbers, labels = pkex.hsic(x, y), pkex.hsic(x, y.astype(str))
    ratio = numbers.statistic / labels.statistic
    np.testing.assert_allclose(numbers.values, ratio * labels.values, rtol=1e-12)
    assert numbers.r2 == pytest.approx(labels.r2, rel=1e-12)


def test_labels_most_of_which_occur_once_are_warned_of(rng):
    x, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    message = r"{} has 50 different labels in 50 rows.*Are they numbers\? Pass them as floats"
    for text in (list(map(str, y)), y.astype(str), pd.Series(y).astype("category")):
        with pytest.warns(UserWarning, match=f"^{message.format('y')}"):
            pkex.hsic(x, text)
    with pytest.warns(UserWarning, match=f"^{message.format('y')}"):
        pkex.hsic(x, y, target_kernel=Categorical())
    frame = pd.DataFrame({"size": y, "text": y.astype(str)})
    with pytest.warns(UserWarning, match=message.format("column 'text' of y")):
        pkex.hsic(x, frame)
    pkex.hsic(x, [f"class {k // 2}" for k in range(50)])


def test_counts_and_a_few_rows_of_integers_are_numbers(rng):
    pkex.hsic(rng.normal(size=(50, 2)), rng.integers(0, 40, 50))
    pkex.hsic(rng.normal(size=(8, 2)), np.arange(8) // 2)


def test_numbers_and_labels_may_stand_side_by_side(x, labels):
    y = pd.DataFrame({"class": labels, "size": x[:, 1], "age": x[:, 2]})
    result = pkex.hsic(x, y, attribute="y")
    assert result.feature_names == ["class", "size", "age"]
    kernel = result.target_kernel
    assert kernel == RBF(kernel.kernels[0].kernel.length_scale).on([1, 2]) * Categorical().on([0])
    assert result.target_bandwidth.endswith("; labels: 1 if equal, else 0")
    assert result.statistic == pytest.approx(pkex.hsic(x, y).statistic, abs=1e-15)


def test_numbers_beside_labels_in_a_list_stay_numbers(x, labels):
    y = [[label, float(size)] for label, size in zip(labels, x[:, 1], strict=True)]
    frame = pd.DataFrame({"class": labels, "size": x[:, 1]})
    found, expected = pkex.hsic(x, y), pkex.hsic(x, frame)
    assert found.target_kernel == expected.target_kernel
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize("form", [np.array, scipy.sparse.csr_array, pd.DataFrame])
def test_columns_of_targets_come_in_many_forms(x, numbers, form):
    np.testing.assert_array_equal(pkex.hsic(x, form(numbers)).values, pkex.hsic(x, numbers).values)


def test_columns_of_the_target_may_have_the_same_name(x, labels):
    y = pd.DataFrame({"a": labels, "b": x[:, 1]}).set_axis(["a", "a"], axis=1)
    result = pkex.hsic(x, y, attribute="y")
    assert result.feature_names == ["a", "a"]
    expected = pkex.hsic(x, y.set_axis(["a", "b"], axis=1), attribute="y")
    np.testing.assert_array_equal(result.values, expected.values)


@pytest.mark.parametrize("estimator", ["biased", "incomplete"])
def test_targets_with_another_index_than_the_rows_raise(rng, estimator):
    frame = pd.DataFrame(rng.standard_normal((2400, 2)), columns=["size", "age"])
    y, options = frame["age"] ** 2, {"estimator": estimator, "random_state": 0}
    expected = pkex.hsic(frame, y.to_numpy(), **options).values
    np.testing.assert_array_equal(pkex.hsic(frame, y, **options).values, expected)
    with pytest.raises(ValueError, match=r"y has another index than X: 2399 instead of 0 in row 0"):
        pkex.hsic(frame, y[::-1], **options)


def test_a_named_series_names_the_attributed_column(x):
    result = pkex.hsic(x, pd.Series(x[:, 0], name="age"), attribute="y")
    assert result.feature_names == ["age"]
    assert result.values[0] == pytest.approx(result.alone[0], abs=1e-16)
    assert pkex.hsic(x, x[:, 0], attribute="y").feature_names == ["y"]


# --- results ---


def test_results_survive_pickling(x, labels):
    result = pkex.hsic(x, labels, n_permutations=9, random_state=0)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.values, result.values)
    assert again.r2 == result.r2
    assert (again.n_rows, again.attribute, again.estimator) == (N, "x", "unbiased")


def test_the_index_is_that_of_the_data_that_were_given(rng):
    x, y = rng.normal(size=(N, 3)), rng.normal(size=(N, 1))
    expected = pkex.hsic(x.copy(), y.copy()).r2
    result = pkex.hsic(x, y)
    x[:] = rng.normal(size=x.shape)
    y[:] = x[:, :1]
    assert result.r2 == expected


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_the_indices_that_were_computed_and_computes_none(monkeypatch, rng, copied):
    x = rng.normal(size=(N, 3))
    result = pkex.hsic(x, x[:, 0])
    r2 = result.r2
    with monkeypatch.context() as context:
        context.delattr(Normalizer, "normalize")
        context.delattr(Normalizer, "normalize_univariate")
        again = copied(result)
        assert again.r2 == r2
    np.testing.assert_array_equal(again.alone_r2, result.alone_r2)
    np.testing.assert_array_equal(again.values, result.values)


def test_a_pickle_has_the_index_and_not_the_data(rng):
    x = rng.normal(size=(1000, 5))
    result = pkex.hsic(x, x[:, 0])
    pickled = pickle.dumps(result)
    assert len(pickled) < 10_000
    assert pickle.loads(pickled).r2 == result.r2
    np.testing.assert_array_equal(pickle.loads(pickled).alone_r2, result.alone_r2)
    # And once more.
    assert pickle.loads(pickle.dumps(pickle.loads(pickled))).r2 == result.r2


def test_the_repr_and_the_picture_name_the_statistic(x, labels):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    result = pkex.hsic(x, labels, kernel=RBF(2.0))
    assert repr(result).startswith(f"HSICResult: HSIC = {result.statistic:.5g} (biased, marginal")
    ax = result.plot()
    assert ax.get_title() == f"HSIC = {result.statistic:.3g}"
    plt.close(ax.figure)


def test_the_name_of_a_column_is_not_a_target():
    rows = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)})
    with pytest.raises(ValueError, match=r"y must be an array.*'b' \(str\).*X\['b'\], and drop it"):
        pkex.hsic(rows, "b")
