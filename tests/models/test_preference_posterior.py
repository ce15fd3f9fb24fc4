"""The posterior of preference models: of preferences, and of the values that explain them."""

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights
from scipy.integrate import quad
from scipy.special import expit

import pkex
from pkex.kernels import RBF, Categorical, Laplacian, Linear, RationalQuadratic
from pkex.models import PreferenceLogistic, PreferenceRidge

RNG = np.random.default_rng(0)
N, D, C = 14, 3, 2
LEFT, RIGHT = RNG.normal(size=(2, N, D))
CONTEXT = RNG.normal(size=(N, C))
Y = np.where(LEFT[:, 0] * CONTEXT[:, 1] > RIGHT[:, 0], 1, -1)
ITEMS = np.concatenate([LEFT, RIGHT])
BACKGROUND = ITEMS[:3]
A, B = ITEMS[10:12] + 0.1, ITEMS[20:22]
KERNELS = {
    "product": 2.0 * RBF([1.0, 2.0, 3.0]),
    "sum of products": Laplacian(2.0) + 0.5 * RBF(1.0).on([0, 1]),
    "mixture": RationalQuadratic(3.0, 50.0),
}
CASES = pytest.mark.parametrize(
    ("model", "pair_kernel"),
    [
        (PreferenceLogistic, "preferential"),
        (PreferenceLogistic, "utility"),
        (PreferenceRidge, "preferential"),
        (PreferenceRidge, "utility"),
    ],
)


def fitted(model, pair_kernel, context=None, kernel=KERNELS["product"], **options):
    options = {"alpha": 0.1, "kernel": kernel, "context_kernel": 0.7 * RBF(1.5)} | options
    return model(pair_kernel=pair_kernel, **options).fit(LEFT, RIGHT, Y, context)


def between(model, pairs, others, contexts, other_contexts):
    """The kernel between pairs in contexts, as it is written."""
    k, (a, b), (c, e) = model.kernel_, pairs, others
    if model.pair_kernel == "utility":
        matrix = k(a, c) + k(b, e) - k(a, e) - k(b, c)
    else:
        matrix = k(a, c) * k(b, e) - k(a, e) * k(b, c)
    return matrix if contexts is None else matrix * model.context_kernel_(contexts, other_contexts)


def scale_and_noise(model, gram):
    """The scale of the prior, and the variances of the noise divided by it."""
    if isinstance(model, PreferenceLogistic):
        shares = expit(gram @ model.dual_coef_)
        return 1.0 / 0.2, 0.2 / (shares * (1.0 - shares))
    # The scale that maximizes the likelihood.
    return Y @ np.linalg.solve(gram + 0.1 * np.eye(N), Y) / N, np.full(N, 0.1)


def covariance_of(model, pairs, contexts):
    """The posterior covariance of f, by the formula without factorizations."""
    own = (model.left_, model.right_)
    gram = between(model, own, own, model.context_, model.context_)
    cross = between(model, own, pairs, model.context_, contexts)
    prior = between(model, pairs, pairs, contexts, contexts)
    scale, noise = scale_and_noise(model, gram)
    return scale * (prior - cross.T @ np.linalg.solve(gram + np.diag(noise), cross))


def mixed(a, b, members, background, *, is_marginal):
    """Pairs with the features of a and b in a coalition, and all others from the background."""
    if is_marginal:
        columns = np.meshgrid(*[range(len(background))] * D, indexing="ij")
        background = np.column_stack(
            [background[np.ravel(own), j] for j, own in enumerate(columns)]
        )
    m = len(background)
    left, right = np.repeat(background, m, axis=0), np.tile(background, (m, 1))
    left[:, members], right[:, members] = a[members], b[members]
    return left, right


def by_brute_force(model, a, b, contexts, *, is_marginal, background=BACKGROUND):
    """The covariance of the values of a pair, from that of f at all pairs of all coalitions."""
    pairs, shares = [], []
    for members in coalitions(D):
        rows = mixed(a, b, list(members), background, is_marginal=is_marginal)
        pairs.append(rows)
        shares.append(np.full(len(rows[0]), 1.0 / len(rows[0])))
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    weights = np.zeros((len(shares), len(left)))
    start = 0
    for place, own in enumerate(shares):
        weights[place, start : start + len(own)] = own
        start += len(own)
    maps = shapley_weights(D) @ weights
    if contexts is None:
        return maps @ covariance_of(model, (left, right), None) @ maps.T
    # f is the mean over the contexts.
    n, m = len(contexts), len(left)
    each = np.tile(left, (n, 1)), np.tile(right, (n, 1))
    whole = covariance_of(model, each, np.repeat(contexts, m, axis=0))
    return maps @ whole.reshape(n, m, n, m).mean(axis=(0, 2)) @ maps.T


@CASES
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_deviations_of_preferences_are_those_of_the_posterior(model, pair_kernel, context):
    model = fitted(model, pair_kernel, context)
    tables = [A, B] if context is None else [A, B, CONTEXT[:2] + 0.3]
    output = getattr(model, "decision_function", model.predict)
    mean, deviations = output(*tables, return_std=True)
    np.testing.assert_array_equal(mean, output(*tables))
    expected = covariance_of(model, tables[:2], tables[2] if context is not None else None)
    np.testing.assert_allclose(deviations**2, expected.diagonal(), rtol=1e-10)
    swapped = output(tables[1], tables[0], *tables[2:], return_std=True)[1]
    np.testing.assert_allclose(swapped, deviations, rtol=1e-10)
    same = output(A, A, *tables[2:], return_std=True)[1]
    assert np.abs(same).max() <= 1e-7


def test_laplaces_approximation_is_that_of_the_weights_of_a_linear_model():
    left = RNG.integers(3, size=(60, 1))
    right = (left + RNG.integers(1, 3, size=(60, 1))) % 3
    model = PreferenceLogistic(alpha=0.5, kernel=Categorical()).fit(
        left, right, RNG.random(60) < 0.7
    )

    def features(left, right):
        table = np.zeros((len(left), 3, 3))
        table[np.arange(len(left)), left[:, 0], right[:, 0]] = 1.0
        table[np.arange(len(left)), right[:, 0], left[:, 0]] = -1.0
        return table[:, *np.triu_indices(3, 1)]

    shares, design = model.predict_proba(left, right)[:, 1], features(left, right)
    precision = design.T * (shares * (1.0 - shares)) @ design + np.eye(3)
    test = left[:5], right[:5]
    expected = features(*test) @ np.linalg.solve(precision, features(*test).T)
    deviations = model.decision_function(*test, return_std=True)[1]
    np.testing.assert_allclose(deviations**2, expected.diagonal(), rtol=1e-10)


def test_averaged_probabilities_are_means_over_the_posterior():
    model = fitted(PreferenceLogistic, "preferential", alpha=0.002)
    mean, deviations = model.decision_function(A, B, return_std=True)
    assert deviations.max() > 1.0
    averaged = model.predict_proba(A, B, averaged=True)
    for row, of_row in enumerate(zip(mean, deviations, strict=True)):

        def density(z, of_row=of_row):
            return expit(of_row[0] + of_row[1] * z) * np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)

        expected = quad(density, -12.0, 12.0, epsabs=1e-12, limit=400)[0]
        np.testing.assert_allclose(averaged[row], [1.0 - expected, expected], atol=1e-10)
    point = model.predict_proba(A, B)
    assert (np.abs(averaged - 0.5) < np.abs(point - 0.5)).all()


@CASES
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_covariances_of_values_of_items_are_those_by_brute_force(
    model, pair_kernel, kernel, value_function
):
    model = fitted(model, pair_kernel, kernel=KERNELS[kernel])
    is_marginal = value_function == "marginal"
    background = BACKGROUND[:2] if is_marginal else BACKGROUND
    options = {"background": background, "value_function": value_function}
    found = model.explain_items(A, B, uncertainty=True, **options)
    np.testing.assert_array_equal(found.values, model.explain_items(A, B, **options).values)
    for row in range(len(A)):
        expected = by_brute_force(
            model, A[row], B[row], None, is_marginal=is_marginal, background=background
        )
        scale = expected.diagonal().max()
        np.testing.assert_allclose(found.covariance(row), expected, rtol=0, atol=1e-9 * scale)
        deviations = np.sqrt(expected.diagonal())
        np.testing.assert_allclose(found.standard_deviations[row], deviations, rtol=1e-6)


@CASES
@pytest.mark.parametrize("is_mean", [True, False], ids=["mean", "given"])
def test_covariances_of_values_in_contexts_are_those_by_brute_force(model, pair_kernel, is_mean):
    model = fitted(model, pair_kernel, CONTEXT)
    contexts = [] if is_mean else [CONTEXT[:2] + 0.2]
    background = BACKGROUND[:2]
    found = model.explain_items(A, B, *contexts, background=background, uncertainty=True)
    for row in range(len(A)):
        own = CONTEXT if is_mean else contexts[0][[row]]
        given = {"is_marginal": False, "background": background}
        expected = by_brute_force(model, A[row], B[row], own, **given)
        np.testing.assert_allclose(found.covariance(row), expected, rtol=0, atol=1e-10)


@CASES
@pytest.mark.parametrize("of_pairs", [True, False])
def test_covariances_of_values_of_contexts_are_those_by_brute_force(model, pair_kernel, of_pairs):
    model = fitted(model, pair_kernel, CONTEXT)
    several, background = CONTEXT[:2] + 0.2, CONTEXT[:4]
    items = [A, B] if of_pairs else []
    found = model.explain_context(several, *items, background=background, uncertainty=True)
    for row, context in enumerate(several):
        left, right = (A[[row]], B[[row]]) if of_pairs else (LEFT, RIGHT)
        mixtures = []
        for members in coalitions(C):
            rows = background.copy()
            rows[:, list(members)] = context[list(members)]
            mixtures.append(rows)
        rows, m = np.concatenate(mixtures), len(left)
        pairs = np.tile(left, (len(rows), 1)), np.tile(right, (len(rows), 1))
        whole = covariance_of(model, pairs, np.repeat(rows, m, axis=0))
        whole = whole.reshape(2**C, 4 * m, 2**C, 4 * m).mean(axis=(1, 3))
        maps = shapley_weights(C)
        np.testing.assert_allclose(found.covariance(row), maps @ whole @ maps.T, rtol=0, atol=1e-10)
    game = pkex.Observational(RBF(1.0), 1e-2)
    given = {"background": background, "value_function": game}
    assert (model.explain_context(several, uncertainty=True, **given).standard_deviations > 0).all()


@CASES
def test_functions_from_the_posterior_have_values_from_their_posterior(model, pair_kernel):
    # All pairs of four items, so that every function is a sum over the training pairs.
    items = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    first, second = np.triu_indices(4, 1)
    left, right = items[first], items[second]
    kernel = Categorical(0.5).on([0]) * Categorical(0.3).on([1])
    y = np.array([1, 1, -1, 1, 1, -1])
    model = model(alpha=0.2, kernel=kernel, pair_kernel=pair_kernel).fit(left, right, y)
    found = model.explain_items(left[:2], right[:2], uncertainty=True)
    gram = between(model, (left, right), (left, right), None, None)
    shares = expit(gram @ model.dual_coef_)
    is_ridge = isinstance(model, PreferenceRidge)
    noise = np.full(6, 0.2) if is_ridge else 0.4 / (shares * (1.0 - shares))
    scale = model.dual_coef_ @ y / 6 if is_ridge else 2.5
    covariance = scale * (gram - gram @ np.linalg.solve(gram + np.diag(noise), gram))
    values, vectors = np.linalg.eigh(covariance)
    roots, mean = vectors * np.sqrt(np.maximum(values, 0.0)), model.dual_coef_
    # The deviations of one standard deviation in each principal direction.
    deviations = []
    for root in roots.T:
        model.dual_coef_ = mean + np.linalg.pinv(gram, rcond=1e-10) @ root
        deviations.append(model.explain_items(left[:2], right[:2]).values - found.values)
    for row in range(2):
        of_row = np.array(deviations)[:, row]
        np.testing.assert_allclose(found.covariance(row), of_row.T @ of_row, rtol=0, atol=1e-10)


@CASES
def test_weights_count_as_pairs(model, pair_kernel):
    options = {"alpha": 0.1, "pair_kernel": pair_kernel, "kernel": KERNELS["product"]}
    options["context_kernel"] = RBF(1.5)
    counts = np.append(1, np.full(N - 1, 2))
    times = np.repeat(np.arange(N), counts)
    weighted = model(**options).fit(LEFT, RIGHT, Y, CONTEXT, counts)
    found = weighted.explain_items(A, B, uncertainty=True).standard_deviations
    context = weighted.explain_context(CONTEXT[:2], uncertainty=True).standard_deviations
    repeated = model(**options).fit(LEFT[times], RIGHT[times], Y[times], CONTEXT[times])
    # The scale of the ridge depends on the number of pairs.
    ratio = (weighted.prior_scale_ / repeated.prior_scale_) ** 0.5
    options = {"background": np.unique(ITEMS, axis=0), "value_function": "marginal"}
    expected = repeated.explain_items(A, B, uncertainty=True, **options).standard_deviations
    np.testing.assert_allclose(found, ratio * expected, rtol=1e-6)
    expected = repeated.explain_context(CONTEXT[:2], uncertainty=True).standard_deviations
    np.testing.assert_allclose(context, ratio * expected, rtol=1e-6)


@CASES
@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_groups_have_the_covariance_of_their_game(model, pair_kernel, value_function):
    # A column that is a copy of another, in a group with it, is the same player.
    kernel = RBF([1.0, 2.0, 3.0])
    own = model(alpha=0.1, pair_kernel=pair_kernel, kernel=kernel).fit(LEFT, RIGHT, Y)
    split = RBF([2.0**0.5, 2.0, 3.0, 2.0**0.5])
    left, right, a, b, background = (
        np.column_stack([rows, rows[:, 0]]) for rows in (LEFT, RIGHT, A, B, BACKGROUND)
    )
    copied = model(alpha=0.1, pair_kernel=pair_kernel, kernel=split).fit(left, right, Y)
    options = {"value_function": value_function, "uncertainty": True}
    expected = own.explain_items(A, B, background=BACKGROUND, **options)
    groups = {"first": [0, 3], "second": [1], "third": [2]}
    found = copied.explain_items(a, b, background=background, groups=groups, **options)
    for row in range(2):
        np.testing.assert_allclose(
            found.covariance(row), expected.covariance(row), rtol=0, atol=1e-9
        )


def test_a_sample_of_pairs_as_centers_has_no_posterior():
    model = PreferenceLogistic(n_centers=5, random_state=0).fit(LEFT, RIGHT, Y)
    assert model.prior_scale_ is None
    for call in (
        lambda: model.decision_function(A, B, return_std=True),
        lambda: model.explain_items(A, B, uncertainty=True),
    ):
        with pytest.raises(ValueError, match="all training pairs, but this one has 5 centers"):
            call()
    utility = PreferenceRidge(n_centers=5, random_state=0, pair_kernel="utility")
    with pytest.raises(ValueError, match="but this one has 5 centers"):
        utility.fit(LEFT, RIGHT, Y).utilities(A, return_std=True)
    # All pairs are centers.
    model = PreferenceLogistic(n_centers=N).fit(LEFT, RIGHT, Y)
    assert (model.decision_function(A, B, return_std=True)[1] > 0.0).all()


@pytest.mark.parametrize("n_centers", [N - 3, None])
@pytest.mark.parametrize("model", [PreferenceRidge, PreferenceLogistic])
def test_utilities_of_centers_are_near_those_of_all_pairs(model, n_centers):
    options = {"alpha": 0.1, "pair_kernel": "utility", "kernel": Linear(), "random_state": 0}
    exact = model(**options, n_centers=None).fit(LEFT, RIGHT, Y)
    found = model(**options, n_centers=n_centers).fit(LEFT, RIGHT, Y)
    # The kernel has three features, which the centers span.
    np.testing.assert_allclose(found.utilities(ITEMS), exact.utilities(ITEMS), rtol=0, atol=1e-5)


def test_deviations_are_in_the_units_of_y():
    model = PreferenceRidge(alpha=0.1).fit(LEFT, RIGHT, LEFT[:, 0] - RIGHT[:, 0])
    scaled = PreferenceRidge(alpha=0.1).fit(LEFT, RIGHT, 100.0 * (LEFT[:, 0] - RIGHT[:, 0]))
    own, theirs = (each.predict(A, B, return_std=True)[1] for each in (model, scaled))
    np.testing.assert_allclose(theirs, 100.0 * own, rtol=1e-10)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"value_function": "neutral"}, pkex.UnsupportedModelError, "items is not for .*neutral"),
        (
            {"value_function": "observational"},
            pkex.UnsupportedModelError,
            "only values of contexts have covariances",
        ),
        ({"right": None}, ValueError, "uncertainty=True requires right"),
    ],
)
def test_values_without_covariances_raise_errors(options, error, message):
    model = fitted(PreferenceLogistic, "preferential")
    with pytest.raises(error, match=message):
        model.explain_items(**{"left": A, "right": B, "uncertainty": True} | options)


def test_backgrounds_with_too_many_pairs_raise_an_error():
    model = PreferenceRidge().fit(*RNG.normal(size=(2, 150, 2)))
    with pytest.raises(ValueError, match="Pass fewer background items"):
        model.explain_items(A[:, :2], B[:, :2], value_function="interventional", uncertainty=True)


# --- utilities ---


def test_the_utility_model_solves_its_equations_and_ranks_items():
    model = fitted(PreferenceRidge, "utility")
    pairs = model.left_, model.right_
    coefficients = np.linalg.solve(between(model, pairs, pairs, None, None) + 0.1 * np.eye(N), Y)
    np.testing.assert_allclose(model.dual_coef_, coefficients, rtol=0, atol=1e-12)
    expected = between(model, (A, B), pairs, None, None) @ coefficients
    np.testing.assert_allclose(model.predict(A, B), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(A, B), -model.predict(B, A))
    differences = model.utilities(A) - model.utilities(B)
    np.testing.assert_allclose(differences, expected, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"utilities requires .* pair_kernel='utility'"):
        fitted(PreferenceRidge, "preferential").utilities(A)
    with pytest.raises(ValueError, match="pair_kernel must be one of"):
        fitted(PreferenceRidge, "utilities")


@pytest.mark.parametrize(
    "value_function", ["neutral", "marginal", "interventional", pkex.Observational(RBF(1.0), 1e-2)]
)
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_values_of_a_utility_are_differences_of_those_of_an_expansion(value_function, context):
    model = fitted(PreferenceRidge, "utility", context)
    background = None if value_function == "neutral" else BACKGROUND
    contexts = [] if context is None else [np.tile(CONTEXT[:1], (2, 1))]
    found = model.explain_items(
        A, B, *contexts, background=background, value_function=value_function
    )
    alpha = model.dual_coef_
    if context is not None:
        alpha = alpha * model.context_kernel_(CONTEXT, CONTEXT[:1])[:, 0]
    u = pkex.KernelExpansion(
        np.vstack([LEFT, RIGHT]), np.concatenate([alpha, -alpha]), model.kernel_
    )
    explainer = pkex.Explainer(u, background, value_function=value_function)
    expected = explainer(A).values - explainer(B).values
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found.values.sum(axis=1), model.predict(A, B, *contexts), rtol=0, atol=1e-12
    )
    utilities = model.utilities(A, *contexts) - model.utilities(B, *contexts)
    np.testing.assert_allclose(utilities, model.predict(A, B, *contexts), rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", [PreferenceRidge, PreferenceLogistic])
@pytest.mark.parametrize("of_contexts", ["none", "given", "mean"])
def test_deviations_of_utilities_are_those_of_a_process_of_items(model, of_contexts):
    model = fitted(model, "utility", None if of_contexts == "none" else CONTEXT)
    tables = [A, CONTEXT[:2] + 0.3] if of_contexts == "given" else [A]
    utilities, deviations = model.utilities(*tables, return_std=True)
    np.testing.assert_array_equal(utilities, model.utilities(*tables))
    # u at the training items, and at new items: in all training contexts for their mean.
    copies = N if of_contexts == "mean" else 1
    covariance = model.kernel_(np.concatenate([LEFT, RIGHT, np.repeat(A, copies, axis=0)]))
    if of_contexts != "none":
        new = np.tile(CONTEXT, (2, 1)) if of_contexts == "mean" else tables[1]
        covariance *= model.context_kernel_(np.concatenate([CONTEXT, CONTEXT, new]))
    differences = np.eye(N, len(covariance)) - np.eye(N, len(covariance), N)
    gram = differences @ covariance @ differences.T
    scale, noise = scale_and_noise(model, gram)
    gain = np.linalg.solve(gram + np.diag(noise), differences @ covariance)
    posterior = scale * (covariance - covariance @ differences.T @ gain)[2 * N :, 2 * N :]
    means = posterior.reshape(2, copies, 2, copies).mean(axis=(1, 3))
    np.testing.assert_allclose(deviations**2, means.diagonal(), rtol=1e-10)


def test_a_linear_utility_is_the_bradley_terry_model_of_features():
    model = PreferenceRidge(alpha=1e-8, kernel=Linear(), pair_kernel="utility")
    w = np.array([1.0, -2.0, 0.5])
    model.fit(LEFT, RIGHT, (LEFT - RIGHT) @ w)
    np.testing.assert_allclose(
        model.explain_items(A, B, value_function="neutral").values, (A - B) * w, atol=1e-6
    )
