"""The observational game: by brute force through models' own output, and what it means."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import observational
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import pkex

D = 4
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(30, D))
X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
X[:, 2] *= 1000.0
Y = X[:, 0] + np.sin(X[:, 2] / 1000.0) * X[:, 3]
ROWS = X[:3] + np.array([0.1, -0.2, 300.0, 0.4])
SCALE = np.array([1.0, 1.0, 1000.0, 1.0])
LENGTH_SCALES = np.array([0.7, 0.8, 900.0, 1.1])


def gaussian(left, right, columns):
    """The Gaussian kernel of some columns, with LENGTH_SCALES."""
    difference = (left[:, None] - right) / LENGTH_SCALES[columns]
    return np.exp(-0.5 * np.square(difference).sum(axis=2))


class Negative(pkex.kernels.Kernel):
    """A Gaussian kernel times −2, which is no kernel."""

    def terms(self, n_features):
        (term,) = pkex.kernels.RBF(LENGTH_SCALES).terms(n_features)
        return [pkex.kernels.Term(-2.0, term.factors)]


GAME = pkex.Observational(pkex.kernels.RBF(LENGTH_SCALES))
MODELS = {
    "SVR": SVR(C=5.0, gamma=0.5),
    "KernelRidge": KernelRidge(kernel="laplacian", gamma=0.4),
    "GaussianProcessRegressor": GaussianProcessRegressor(
        2.0 * RBF(1.5), alpha=1e-2, optimizer=None, normalize_y=True
    ),
    "a kernel that is no product": GaussianProcessRegressor(
        Matern(2.0), alpha=1e-2, optimizer=None
    ),
    "linear": LinearRegression(),
}


def fitted(name):
    return make_pipeline(StandardScaler(), MODELS[name]).fit(X, Y)


def largest_error(values, output, **options):
    wanted = [observational(output, row, X, gaussian, **options) for row in ROWS]
    return np.abs(values - wanted).max() / np.abs(wanted).max()


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_brute_force_through_the_model(name):
    model = fitted(name)
    explainer = pkex.Explainer(model, X, value_function=GAME)
    explanation = explainer(ROWS)
    assert largest_error(explanation.values, model.predict) < 1e-9
    assert explainer.expected_value == pytest.approx(model.predict(X).mean(), rel=1e-12)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total == pytest.approx(model.predict(ROWS), rel=1e-10)


VARIANTS = [
    {"normalize": False},
    {"embedding": "rows"},
    {"embedding": "rows", "normalize": False},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_variants_are_those_of_brute_force_through_the_model(name, options):
    model, weights = fitted(name), np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    game = pkex.Observational(GAME.kernel, **options)
    explainer = pkex.Explainer(model, X, background_weights=weights, value_function=game)
    explanation = explainer(ROWS)
    shares = weights / weights.sum()
    assert largest_error(explanation.values, model.predict, weights=shares, **options) < 1e-9
    assert explainer.expected_value == pytest.approx(shares @ model.predict(X), rel=1e-12)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total == pytest.approx(model.predict(ROWS), rel=1e-10)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_variants_of_expansions_have_their_intercept_and_landmarks(options):
    rows, background = ROWS / SCALE, X / SCALE
    model = SVR(C=5.0, gamma=0.5).fit(background, Y + 10.0)
    game = pkex.Observational(GAME.kernel, **options)
    values = pkex.Explainer(model, background, value_function=game).shap_values(rows)
    wanted = [observational(model.predict, row, background, gaussian, **options) for row in rows]
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-10)
    # Copies of the rows are landmarks that lose nothing.
    twice = np.concatenate([background, background])
    game = pkex.Observational(GAME.kernel, n_landmarks=58, **options)
    values = pkex.Explainer(model, twice, value_function=game).shap_values(rows)
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-7)


def test_whole_rows_are_embedded_by_kernels_that_are_not_products():
    background, rows = X / SCALE, ROWS / SCALE
    model = KernelRidge(kernel=Matern(2.0, nu=0.5), alpha=0.1).fit(background, Y)
    kernel = pkex.kernels.Matern(LENGTH_SCALES, nu=0.5)
    game = pkex.Observational(kernel, embedding="rows", normalize=False)

    def compared(left, right, columns):
        return Matern(LENGTH_SCALES[columns], nu=0.5)(left, right)

    options = {"normalize": False, "embedding": "rows"}
    wanted = [observational(model.predict, row, background, compared, **options) for row in rows]
    explainer = pkex.Explainer(model, background, value_function=game)
    assert explainer.shap_values(rows) == pytest.approx(np.array(wanted), abs=1e-9)
    with pytest.warns(UserWarning, match="30 of 30 rows are in the background themselves"):
        own = explainer.shap_values(background)
    for row, values in zip(background[:3], own, strict=False):
        wanted = observational(model.predict, row, background, compared, **options)
        assert values == pytest.approx(wanted, abs=1e-9)
    assert "normalize=False, embedding='rows'" in repr(explainer)
    with pytest.raises(ValueError, match="embedding must be one of 'absent', 'rows'; got"):
        pkex.Observational(embedding="kernel")
    with pytest.raises(TypeError, match="normalize must be True or False; got 0"):
        pkex.Observational(normalize=0)


@pytest.mark.parametrize(
    "model",
    [
        SVR(gamma=0.5),
        KernelRidge(kernel=Matern(2.0, nu=0.5), alpha=0.1),
        make_pipeline(make_column_transformer((StandardScaler(), [2, 0, 3])), SVR(gamma=0.5)),
    ],
    ids=["a product", "a mixture", "a pipeline that drops a column"],
)
def test_kernel_expansions_are_explained_as_by_mixed_rows(model):
    rows, background = ROWS / SCALE, X / SCALE
    model.fit(background, Y)
    explainer = pkex.Explainer(model, background, value_function=GAME)
    wanted = [observational(model.predict, row, background, gaussian) for row in rows]
    # The engine's sum of Gaussians, by which a mixture is predicted, errs by 1e-12 of its terms.
    assert explainer.shap_values(rows) == pytest.approx(np.array(wanted), abs=1e-9)
    by_rows = pkex.Explainer(model, background, value_function=GAME, transform=np.positive)
    assert by_rows.shap_values(rows) == pytest.approx(np.array(wanted), abs=1e-9)


def test_weights_of_rows_regularization_and_groups_are_those_of_the_formula():
    model, weights = fitted("SVR"), RANDOM.uniform(0.5, 2.0, len(X))
    explainer = pkex.Explainer(
        model,
        X,
        background_weights=weights,
        groups={"first": [0, 3]},
        value_function=pkex.Observational(GAME.kernel, regularization=0.05),
    )
    assert explainer.feature_names == ["first", "x1", "x2"]
    options = {"weights": weights / weights.sum(), "groups": [[0, 3], [1], [2]]}
    values = explainer.shap_values(ROWS)
    assert largest_error(values, model.predict, regularization=0.05, **options) < 1e-9


def test_outputs_of_classes_and_probabilities_are_explained():
    classes = np.digitize(X[:, 0], [-0.5, 0.5])
    model = make_pipeline(StandardScaler(), SVC(gamma=0.3)).fit(X, classes)
    ovo = model.set_params(svc__decision_function_shape="ovo").decision_function
    values = pkex.Explainer(model, X, value_function=GAME).shap_values(ROWS)
    for output in range(3):
        error = largest_error(values[..., output], lambda rows, o=output: ovo(rows)[:, o])
        assert error < 1e-9
    game = pkex.Observational(GAME.kernel, embedding="rows")
    explainer = pkex.Explainer(model, X, value_function=game)
    assert explainer.expected_value == pytest.approx(ovo(X).mean(axis=0))
    values = explainer.shap_values(ROWS)
    for output in range(3):
        of_output = {"output": lambda rows, o=output: ovo(rows)[:, o], "embedding": "rows"}
        assert largest_error(values[..., output], **of_output) < 1e-9
    squashed = pkex.Explainer(model, X, value_function=GAME, transform=np.tanh)
    first = largest_error(squashed.shap_values(ROWS)[..., 0], lambda r: np.tanh(ovo(r)[:, 0]))
    assert first < 1e-9


def test_interactions_are_those_of_the_same_worths():
    model = fitted("SVR")
    explainer = pkex.Explainer(model, X, value_function=GAME)
    interactions = explainer.interactions(ROWS)
    total = interactions.values.sum(axis=1) + interactions.base_values
    assert total == pytest.approx(model.predict(ROWS))
    pairs = explainer.interactions(ROWS, index="SII", order=1)
    assert pairs.values == pytest.approx(explainer.shap_values(ROWS))


def test_a_constant_in_the_model_and_the_units_of_columns_change_nothing():
    model = SVR(C=5.0, gamma=0.5).fit(X / SCALE, Y)
    values = pkex.Explainer(model, X / SCALE, value_function="observational").shap_values(
        ROWS / SCALE
    )

    def shifted(outputs):
        return outputs + 1e4

    constant = pkex.Explainer(
        model, X / SCALE, value_function="observational", transform=shifted
    ).shap_values(ROWS / SCALE)
    assert constant == pytest.approx(values, abs=1e-9)
    other_units = make_pipeline(StandardScaler(), SVR()).fit(X, Y)
    same = make_pipeline(StandardScaler(), SVR()).fit(X / SCALE, Y)
    assert pkex.Explainer(other_units, X, value_function="observational").shap_values(
        ROWS
    ) == pytest.approx(
        pkex.Explainer(same, X / SCALE, value_function="observational").shap_values(ROWS / SCALE)
    )


def test_a_feature_that_the_model_ignores_has_a_value_if_it_says_something_of_others():
    first = pkex.KernelExpansion(X[:, :2], Y, pkex.kernels.RBF().on([0]))
    values = pkex.Explainer(first, X[:, :2], value_function="observational").shap_values(X[:, :2])
    assert np.abs(values[:, 1]).mean() > 0.3 * np.abs(values[:, 0]).mean()
    without = pkex.Explainer(first, X[:, :2]).shap_values(X[:, :2])
    assert np.abs(without[:, 1]).max() < 1e-12


def test_of_independent_features_in_large_samples_it_is_the_interventional_game():
    found = []
    for n in (100, 1600):
        rows = np.random.default_rng(1).uniform(-1.0, 1.0, size=(n, 2))
        expansion = pkex.KernelExpansion(rows[:20], np.cos(np.arange(20)), pkex.kernels.RBF())
        some = rows[:50] / 2.0
        game = pkex.Observational(regularization=1e-2)
        given = pkex.Explainer(expansion, rows, value_function=game).shap_values(some)
        free = pkex.Explainer(expansion, rows).shap_values(some)
        found.append(np.sqrt(np.mean((given - free) ** 2) / np.mean(free**2)))
    assert found[1] < 0.5 * found[0]
    assert found[1] < 0.05


@pytest.mark.parametrize("embedding", ["absent", "rows"])
@pytest.mark.parametrize("number", [None, 40])
def test_bits_do_not_depend_on_the_number_of_threads(number, embedding):
    rows = np.random.default_rng(5).normal(size=(200, 5))
    model = SVR(gamma=0.1).fit(rows, rows[:, 0] * rows[:, 1])
    game = pkex.Observational(pkex.kernels.RBF(3.0), n_landmarks=number, embedding=embedding)
    found = [
        pkex.Explainer(model, rows, value_function=game, n_jobs=n_jobs).shap_values(rows[:3] + 0.1)
        for n_jobs in (1, 2, 5)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_progress_is_told_coalition_by_coalition_and_errors_end_it():
    model, told = fitted("SVR"), []
    by_columns = SVR(gamma=0.5).fit(X / SCALE, Y)
    explainer = pkex.Explainer(by_columns, X / SCALE, value_function=GAME, n_jobs=3)
    explainer(ROWS / SCALE, progress=lambda done, total: told.append(done / total))
    assert told == sorted(told)
    assert told[-1] == 1.0
    game = pkex.Observational(Negative())
    for some in (model, by_columns):
        negative = pkex.Explainer(some, X, value_function=game, n_jobs=3)
        with pytest.raises(
            ValueError, match="is not positive definite on the background in the columns x"
        ):
            negative.shap_values(ROWS)


def test_with_all_rows_as_landmarks_nothing_is_approximated():
    model = SVR(gamma=0.5).fit(X / SCALE, Y)
    exact = pkex.Explainer(model, X / SCALE, value_function=GAME)
    all_rows = pkex.Observational(GAME.kernel, n_landmarks=len(X))
    same = pkex.Explainer(model, X / SCALE, value_function=all_rows)
    assert np.array_equal(same.shap_values(ROWS), exact.shap_values(ROWS))
    assert exact.landmark_error is None
    assert same.landmark_error is None


def test_more_landmarks_come_nearer_and_their_error_is_told():
    rows = np.random.default_rng(3).normal(size=(400, 3))
    model = SVR(gamma=0.1).fit(rows, rows[:, 0] * rows[:, 1])
    kernel = pkex.kernels.RBF(3.0)
    for transform in (None, np.tanh):
        options = {"background": rows, "transform": transform}
        exact = pkex.Explainer(model, value_function=pkex.Observational(kernel), **options)
        wanted, errors, told = exact.shap_values(rows[:20]), [], []
        for number in (50, 200):
            game = pkex.Observational(kernel, n_landmarks=number)
            explainer = pkex.Explainer(model, value_function=game, **options)
            values = explainer.shap_values(rows[:20])
            total = values.sum(axis=1) + explainer.expected_value
            assert total == pytest.approx(wanted.sum(axis=1) + exact.expected_value)
            errors.append(np.sqrt(np.mean((values - wanted) ** 2)))
            told.append(explainer.landmark_error)
        assert errors[1] < 0.3 * errors[0]
        assert errors[1] < 0.02 * np.abs(wanted).max()
        assert told[1] < told[0] < 0.05


def test_too_few_landmarks_are_warned_of():
    with pytest.warns(UserWarning, match="n_landmarks=2 changes the values of coalitions by"):
        explainer = pkex.Explainer(
            fitted("SVR"), X, value_function=pkex.Observational(n_landmarks=2)
        )
    assert explainer.landmark_error > 0.05


def test_labels_are_alike_or_not_and_gaps_in_numbers_are_named():
    table = pd.DataFrame(X / SCALE, columns=list("abcd"))
    table["c"] = np.where(X[:, 0] + X[:, 3] > 0.0, "yes", "no")
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["c"]), (SimpleImputer(), ["a", "b", "d"])
    )
    model = make_pipeline(steps, SVR(C=5.0)).fit(table, Y)
    explainer = pkex.Explainer(model, table, value_function="observational")
    numbers = table[["a", "b", "d"]].to_numpy()
    distances = np.abs(numbers[:, None] - numbers)[np.triu_indices(len(numbers), 1)]
    scales = np.median(distances, axis=0)

    def kernel(left, right, columns):
        product = np.ones((len(left), len(right)))
        for place, column in enumerate(columns):
            one, other = left[:, place, None], right[:, place]
            if column == 2:
                product *= np.where(one == other, 1.0, np.exp(-0.5))
            else:
                scale = scales[column if column < 2 else 2]
                product *= np.exp(-0.5 * ((one - other).astype(float) / scale) ** 2)
        return product

    rows = (table.iloc[:3].assign(c=["yes", "no", "perhaps"])).assign(a=[0.3, 0.2, -0.1])

    def output(entries):
        return model.predict(pd.DataFrame(entries, columns=list("abcd")))

    objects = table.to_numpy(dtype=object)
    wanted = [observational(output, row, objects, kernel) for row in rows.to_numpy(dtype=object)]
    assert explainer.shap_values(rows) == pytest.approx(np.array(wanted), abs=1e-10)
    gap = rows.assign(d=[0.0, np.nan, 0.0])
    with pytest.raises(
        ValueError, match="X has the value nan in row 1, column 'd', a numeric column"
    ):
        explainer.shap_values(gap)
    with pytest.raises(
        ValueError, match="background has the value nan in row 1, column 'd', a numeric column"
    ):
        pkex.Explainer(model, gap, value_function="observational")


def test_rows_are_not_compared_by_names_nor_by_what_the_kernel_leaves_out():
    table = pd.DataFrame(X / SCALE, columns=list("abcd"))
    table["id"] = [f"row {number}" for number in range(len(table))]
    steps = make_column_transformer(("passthrough", list("abcd")), remainder="drop")
    model = make_pipeline(steps, SVR()).fit(table, Y)
    with pytest.raises(
        ValueError, match="column 'id' of background has 30 distinct categories in 30 rows"
    ):
        pkex.Explainer(model, table, value_function="observational")
    game = pkex.Observational(pkex.kernels.RBF(LENGTH_SCALES).on([0, 1, 2, 3]))
    rows = table[:3].assign(**dict(zip("abcd", (ROWS / SCALE).T, strict=True)))
    values = pkex.Explainer(model, table, value_function=game).shap_values(rows)
    same = SVR().fit(X / SCALE, Y)
    wanted = pkex.Explainer(same, X / SCALE, value_function=game).shap_values(ROWS / SCALE)
    assert values[:, :4] == pytest.approx(wanted, abs=1e-10)
    assert np.abs(values[:, 4]).max() < 1e-10
    table["id"] = [[1]] * len(table)
    with pytest.raises(
        ValueError, match="background has values that are neither numbers nor categories"
    ):
        pkex.Explainer(model, table, value_function="observational")


def test_the_default_length_scales_do_not_depend_on_the_order_of_rows():
    rows = np.tile([[0.0], [5.0]], (1500, 1)) + np.random.default_rng(0).normal(size=(3000, 1))
    model = SVR().fit(rows[:20], rows[:20, 0])
    game = pkex.Observational(n_landmarks=300)
    explainer = pkex.Explainer(model, rows, value_function=game)
    assert explainer.conditioning.kernel.length_scale == pytest.approx((3.0,), rel=0.3)


def test_rows_of_the_background_that_have_most_of_the_weight_are_warned_of():
    rows = np.random.default_rng(0).normal(size=(100, 8))
    first = pkex.KernelExpansion(rows, rows[:, 0], pkex.kernels.RBF(3.0).on([0]))
    explainer = pkex.Explainer(first, rows, value_function="observational")
    some = np.concatenate([rows[:20], rows[20:21] + 0.1])
    with pytest.warns(UserWarning, match="20 of 21 rows are in the background themselves, and"):
        own = explainer.shap_values(some)
    others = np.random.default_rng(1).normal(size=(20, 8))

    def kept(values, of_rows):
        """What is left of the one feature that matters, beside what it has on its own."""
        alone = pkex.Explainer(first, rows).shap_values(of_rows)[:, 0]
        return np.abs(values[:, 0]).mean() / np.abs(alone).mean()

    with pytest.warns(UserWarning, match="20 of 21 rows are in the background themselves, and"):
        explainer.estimate(some, n_coalitions=32)
    assert kept(own[:20], rows[:20]) < 0.7
    assert kept(explainer.shap_values(others), others) > 0.9
    wide = pkex.Observational(regularization=1.0)
    pkex.Explainer(first, rows, value_function=wide).shap_values(rows[:2])


def test_rows_are_not_compared_by_columns_that_are_constant():
    names, plain = list("abcd"), X / SCALE
    table = pd.DataFrame(plain, columns=names).assign(e=2.0, f="same")
    steps = make_column_transformer(("passthrough", [*names, "e"]), (OneHotEncoder(), ["f"]))
    model = make_pipeline(steps, SVR(gamma=0.5)).fit(table, Y)
    with pytest.warns(UserWarning, match=r"constant columns \['e', 'f'\]"):
        explainer = pkex.Explainer(model, table, value_function="observational")
    rows = pd.DataFrame(ROWS / SCALE, columns=names).assign(e=2.0, f="same")
    values = explainer.shap_values(rows)
    same = SVR(gamma=0.5).fit(plain, Y)
    alone = pkex.Explainer(same, plain, value_function="observational").shap_values(ROWS / SCALE)
    np.testing.assert_allclose(values[:, :4], alone, rtol=0, atol=1e-10)
    np.testing.assert_allclose(values[:, 4:], 0.0, rtol=0, atol=1e-10)
    # As a feature with another column nothing is to be said of it.
    groups = {"all": ["d", "e", "f"]}
    pkex.Explainer(model, table, value_function="observational", groups=groups)
    # The model may know more of a column than the background.
    half = np.where(np.arange(30)[:, None] < 15, [0.0, 1.0, 1.0, 1.0], 1.0) * plain
    with pytest.warns(UserWarning, match=r"constant columns \['x0'\]"):
        explainer = pkex.Explainer(same, half[:15], value_function="observational")
    changed = explainer.shap_values(plain[15:18])
    total = changed.sum(axis=1) + explainer.expected_value
    assert total == pytest.approx(same.predict(plain[15:18]))
    equal = pkex.Explainer(same, plain[[0, 0, 0]], value_function="observational")
    single = pkex.Explainer(same, plain[:1]).shap_values(ROWS / SCALE)
    np.testing.assert_allclose(equal.shap_values(ROWS / SCALE), single, rtol=0, atol=1e-12)


def test_the_explainer_shows_settings_that_are_not_the_default_ones():
    game = pkex.Observational(n_landmarks=len(X), leave_one_out=True)
    shown = repr(pkex.Explainer(fitted("SVR"), X, value_function=game))
    assert "value_function='observational', n_landmarks=30, leave_one_out=True, back" in shown
    plain = repr(pkex.Explainer(fitted("SVR"), X, value_function="observational"))
    assert "value_function='observational', background of 30 rows" in plain


def test_against_a_single_row_it_is_the_interventional_game():
    model = fitted("SVR")
    given = pkex.Explainer(model, X[:1], value_function="observational").shap_values(ROWS)
    assert given == pytest.approx(pkex.Explainer(model, X[:1]).shap_values(ROWS), abs=1e-12)


def test_the_explainer_says_what_it_conditions_on_and_pickles():
    explainer = pkex.Explainer(fitted("SVR"), X, value_function="observational")
    assert explainer.value_function == "observational"
    assert explainer.conditioning.regularization == 1e-3
    distances = np.abs(X[:, None] - X)[np.triu_indices(len(X), 1)]
    wanted = np.median(distances, axis=0)
    assert explainer.conditioning.kernel.length_scale == pytest.approx(tuple(wanted))
    again = pickle.loads(pickle.dumps(explainer))
    assert np.array_equal(again.shap_values(ROWS), explainer.shap_values(ROWS))
    assert explainer(ROWS).value_function == "observational"
    assert pkex.Explainer(fitted("SVR"), X).conditioning is None


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ridge": 1e-3}, TypeError, "Observational.. has no argument 'ridge'; it takes kernel, "),
        ({"kernel": "rbf"}, TypeError, "kernel must be a kernel of pkex.kernels"),
        ({"regularization": 0.0}, ValueError, "regularization must be at least 1e-08"),
        ({"regularization": "much"}, TypeError, "regularization must be a positive number"),
        ({"n_landmarks": 0}, ValueError, "n_landmarks must be a positive integer"),
    ],
)
def test_settings_that_there_are_not_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        pkex.Observational(**options)


def test_what_cannot_be_conditioned_on_is_refused_with_the_remedy():
    model = fitted("SVR")
    with pytest.raises(ValueError, match=r"observational.*Pass these by background=Z"):
        pkex.Explainer(model, value_function="observational")
    with pytest.raises(ValueError, match="link='logit' is applied to the mean"):
        pkex.Explainer(model, X, value_function="observational", link="logit")
    for number in (None, 20):
        game = pkex.Observational(Negative(), n_landmarks=number)
        with pytest.raises(
            ValueError, match="is not positive definite on the background in the columns x"
        ):
            pkex.Explainer(model, X, value_function=game).shap_values(ROWS)
    wide = pkex.KernelExpansion(np.eye(15), np.ones(15), pkex.kernels.RBF())
    explainer = pkex.Explainer(wide, np.eye(15), value_function="observational")
    with pytest.raises(ValueError, match=r"all 2\^15 coalitions, with a"):
        explainer(np.eye(15))


@pytest.mark.parametrize("kernel", [pkex.kernels.RBF(), pkex.kernels.Matern(nu=1.5)])
def test_an_expansion_without_points_has_values_of_0(kernel):
    for coefficients, intercept in (([], 2.0), (np.empty((0, 2)), [1.0, 2.0])):
        expansion = pkex.KernelExpansion(np.empty((0, 4)), coefficients, kernel, intercept)
        explanation = pkex.Explainer(expansion, X, value_function="observational")(X[:2] + 0.1)
        np.testing.assert_allclose(explanation.values, 0.0, atol=1e-12)
        np.testing.assert_array_equal(explanation.base_values, [intercept] * 2)
