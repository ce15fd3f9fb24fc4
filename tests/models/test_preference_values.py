"""Values of preferences: each game by brute force through the model's own prediction."""

import numpy as np
import pytest
from brute_force import (
    Reference,
    coalitions,
    conditional_weights,
    interventional,
    marginal,
    observational,
    shapley_weights,
)

import pkex
from pkex.kernels import RBF, Categorical, Cauchy, Laplacian, Matern
from pkex.models import PreferenceLogistic, PreferenceRidge

RNG = np.random.default_rng(0)
N, D, C = 14, 4, 3
LEFT, RIGHT = RNG.normal(size=(2, N, D))
LEFT[:, 3], RIGHT[:, 3] = RNG.integers(3, size=(2, N))
CONTEXT = RNG.normal(size=(N, C)).round(1)
Y = np.where(LEFT[:, 0] * CONTEXT[:, 1] > RIGHT[:, 0], 1, -1)
ITEMS = np.unique(np.concatenate([LEFT, RIGHT]), axis=0)
BACKGROUND = ITEMS[:4]
A, B = ITEMS[10:13] + 0.1, ITEMS[20:23]
KERNELS = {
    "default": None,
    "product": 2.0 * RBF([1.0, 2.0, 3.0]).on([0, 1, 2]) * Categorical(0.4).on([3]),
    "sum of products": Laplacian(2.0) + 0.5 * Cauchy(3.0) * RBF(2.0).on([0, 1]),
}
COMPARING = RBF([1.0, 0.5, 2.0, 1.0])
GROUPS = [[j, D + j] for j in range(D)]


def fitted(context=None, model=PreferenceRidge, **options):
    return model(**{"alpha": 0.1} | options).fit(LEFT, RIGHT, Y, context)


def pairs_of(items):
    m = len(items)
    return np.hstack([np.repeat(items, m, axis=0), np.tile(items, (m, 1))])


def output_of(model, context=None):
    """The model's own output of rows that have both items side by side."""
    output = getattr(model, "decision_function", None) or model.predict

    def of_rows(rows):
        known = [] if context is None else [np.tile(context, (len(rows), 1))]
        return output(*np.split(rows, 2, axis=1), *known)

    return of_rows


def compared(left, right, members):
    """The kernel that background rows are compared by, of some columns."""
    return RBF(np.array(COMPARING.length_scale)[members])(left, right)


def conditional(
    output,
    a,
    b,
    background,
    kernel,
    regularization,
    *,
    normalize=True,
    embedding="absent",
    groups=None,
):
    """Values with absent features of either item weighed by what is known of it."""
    d, m = len(a), len(background)
    groups = groups or [[j] for j in range(d)]
    shares, pairs = np.full(m, 1.0 / m), pairs_of(background)
    worths = []
    for players in coalitions(len(groups)):
        members = sorted(j for player in players for j in groups[player])
        weights = [
            shares
            if len(members) == d
            else conditional_weights(
                row, background, shares, kernel, regularization, members, normalize=normalize
            )
            for row in (a, b)
        ]
        rows = pairs.copy()
        if embedding == "absent" or len(members) == d:
            rows[:, [*members, *(d + j for j in members)]] = [*a[members], *b[members]]
        worths.append(np.outer(*weights).ravel() @ output(rows))
    return Reference(shapley_weights(len(groups)) @ np.array(worths), np.abs(worths).max())


# --- items ---


@pytest.mark.parametrize("model", [PreferenceRidge, PreferenceLogistic])
@pytest.mark.parametrize("kernel", KERNELS)
def test_interventional_values_are_those_by_brute_force(model, kernel):
    model = fitted(model=model, kernel=KERNELS[kernel])
    explanation = model.explain_items(A, B, background=BACKGROUND)
    assert explanation.value_function == "interventional"
    for a, b, found in zip(A, B, explanation.values, strict=True):
        both = np.concatenate([a, b])
        expected, empty = interventional(
            output_of(model), both, pairs_of(BACKGROUND), groups=GROUPS
        )
        expected.assert_close(found)
        assert abs(empty) <= 1e-12


@pytest.mark.parametrize("kernel", KERNELS)
def test_marginal_values_are_those_by_brute_force(kernel):
    model = fitted(kernel=KERNELS[kernel])
    explanation = model.explain_items(A, B, background=BACKGROUND[:2], value_function="marginal")
    for a, b, found in zip(A, B, explanation.values, strict=True):
        both = np.concatenate([a, b])
        expected, _ = marginal(output_of(model), both, pairs_of(BACKGROUND[:2]), groups=GROUPS)
        expected.assert_close(found)


def test_neutral_values_are_those_by_brute_force():
    scales = np.array([1.0, 2.0, 3.0, 4.0])
    model = fitted(kernel=RBF(scales))
    explanation = model.explain_items(A, B, value_function="neutral")

    def kernel(rows, item, members):
        return np.exp(-0.5 * (((rows - item) / scales)[:, members] ** 2).sum(axis=1))

    for a, b, found in zip(A, B, explanation.values, strict=True):
        worths = [
            model.dual_coef_
            @ (
                kernel(LEFT, a, members) * kernel(RIGHT, b, members)
                - kernel(LEFT, b, members) * kernel(RIGHT, a, members)
            )
            for members in coalitions(D)
        ]
        scale = np.abs(model.dual_coef_).sum()
        Reference(shapley_weights(D) @ np.array(worths), scale).assert_close(found)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("in_contexts", [False, True])
def test_observational_values_are_those_by_brute_force(kernel, in_contexts):
    model = fitted(CONTEXT if in_contexts else None, kernel=KERNELS[kernel])
    contexts = [CONTEXT[:3]] if in_contexts else []
    game = pkex.Observational(COMPARING, 1e-2)
    found = model.explain_items(A, B, *contexts, background=ITEMS[:6], value_function=game)
    assert found.value_function == "observational"

    for row, (a, b) in enumerate(zip(A, B, strict=True)):
        output = output_of(model, CONTEXT[row] if in_contexts else None)
        expected = conditional(output, a, b, ITEMS[:6], compared, 1e-2)
        expected.assert_close(found.values[row])


@pytest.mark.parametrize("embedding", ["absent", "rows"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", [None, Matern(2.0, nu=2.5)], ids=str)
def test_variants_of_observational_values_are_those_by_brute_force(kernel, normalize, embedding):
    model, options = fitted(kernel=kernel), {"normalize": normalize, "embedding": embedding}
    game = pkex.Observational(COMPARING, 1e-2, **options)
    found = model.explain_items(A, B, background=ITEMS[:6], value_function=game)
    for row, (a, b) in enumerate(zip(A, B, strict=True)):
        output = output_of(model)
        expected = conditional(output, a, b, ITEMS[:6], compared, 1e-2, **options)
        expected.assert_close(found.values[row], 1e-10 if kernel is None else 1e-9)


@pytest.mark.filterwarnings("ignore:.*are in the background themselves")
@pytest.mark.parametrize(
    "game", ["interventional", "marginal", "neutral", "observational", "without itself"]
)
@pytest.mark.parametrize("in_contexts", [False, True])
def test_swapped_items_have_the_same_values_with_the_other_sign(game, in_contexts):
    game = pkex.Observational(leave_one_out=True) if game == "without itself" else game
    model = fitted(CONTEXT if in_contexts else None)
    contexts = [CONTEXT] if in_contexts else []
    there = model.explain_items(LEFT, RIGHT, *contexts, value_function=game)
    back = model.explain_items(RIGHT, LEFT, *contexts, value_function=game)
    np.testing.assert_array_equal(there.values, -back.values)
    itself = model.explain_items(LEFT, LEFT, *contexts, value_function=game)
    assert not itself.values.any()
    # From 0, the value of no feature, to the model's own of all.
    assert not there.base_values.any()
    np.testing.assert_allclose(
        there.values.sum(axis=1), model.predict(LEFT, RIGHT, *contexts), rtol=0, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore:.*are in the background themselves")
@pytest.mark.parametrize("game", ["interventional", "marginal", "neutral", "observational"])
@pytest.mark.parametrize("in_contexts", [False, True])
def test_an_item_against_all_has_the_mean_of_its_values(game, in_contexts, monkeypatch):
    monkeypatch.setattr("pkex.models.preferences.item_values._MAX_DUELS", 5)
    model = fitted(CONTEXT if in_contexts else None)
    options = {"value_function": game}
    if game != "neutral":
        options["background"] = BACKGROUND
    opponents = ITEMS if game == "neutral" else BACKGROUND
    contexts = CONTEXT[:3] if in_contexts else None
    explanation = model.explain_items(A, None, contexts, **options)
    m, expected = len(opponents), []
    for row, a in enumerate(A):
        own = np.tile(CONTEXT[row], (m, 1)) if in_contexts else None
        expected.append(model.explain_items(np.tile(a, (m, 1)), opponents, own, **options).values)
    np.testing.assert_allclose(explanation.values, np.mean(expected, axis=1), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(explanation.data, A)


def test_without_a_background_the_items_of_the_fit_take_its_place():
    model = fitted()
    default = model.explain_items(A, B)
    assert default.value_function == "marginal"
    given = model.explain_items(A, B, background=ITEMS, value_function="marginal")
    np.testing.assert_array_equal(default.values, given.values)
    drawn = model.explain_items(A, B, value_function="interventional")
    given = model.explain_items(A, B, background=ITEMS)
    np.testing.assert_array_equal(drawn.values, given.values)


def test_values_in_contexts_and_in_their_mean_are_those_by_brute_force():
    model = fitted(CONTEXT, context_kernel=RBF([1.0, 2.0, 3.0]))
    several = CONTEXT[[5, 0, 5]]
    found = model.explain_items(A, B, several, background=BACKGROUND).values
    in_mean = model.explain_items(A, B, background=BACKGROUND).values

    def mean(rows):
        return np.mean([output_of(model, context)(rows) for context in CONTEXT], axis=0)

    for row, (a, b) in enumerate(zip(A, B, strict=True)):
        both, pairs = np.concatenate([a, b]), pairs_of(BACKGROUND)
        output = output_of(model, several[row])
        interventional(output, both, pairs, groups=GROUPS)[0].assert_close(found[row])
        interventional(mean, both, pairs, groups=GROUPS)[0].assert_close(in_mean[row])


def test_values_of_seven_features_are_those_by_brute_force():
    left, right = RNG.normal(size=(2, 20, 7))
    model = PreferenceLogistic(alpha=0.01).fit(left, right, left[:, 0] > right[:, 6])
    a, b, background = left[0] + 0.1, right[1] - 0.1, left[:3]
    scales, both = np.arange(1.0, 8.0), np.concatenate([a, b])
    expected, _ = interventional(
        output_of(model), both, pairs_of(background), groups=[[j, 7 + j] for j in range(7)]
    )
    expected.assert_close(model.explain_items(a[None], b[None], background=background).values[0])
    game = pkex.Observational(RBF(scales), 1e-2)
    found = model.explain_items(a[None], b[None], background=background, value_function=game)

    def kernel(rows, others, members):
        return RBF(scales[members])(rows, others)

    expected = conditional(output_of(model), a, b, background, kernel, 1e-2)
    expected.assert_close(found.values[0])


def test_kernels_that_are_mixtures_of_products_are_explained_too():
    model = fitted(kernel=Matern(2.0, nu=2.5))
    both, pairs = np.concatenate([A[0], B[0]]), pairs_of(BACKGROUND[:2])
    for game, by_brute_force in (("interventional", interventional), ("marginal", marginal)):
        told = {"background": BACKGROUND[:2], "value_function": game}
        found = model.explain_items(A[:1], B[:1], **told).values[0]
        expected, _ = by_brute_force(output_of(model), both, pairs, groups=GROUPS)
        expected.assert_close(found, 1e-9)
    game = pkex.Observational(COMPARING, 1e-2)
    found = model.explain_items(A[:1], B[:1], background=BACKGROUND, value_function=game).values[0]
    expected = conditional(output_of(model), A[0], B[0], BACKGROUND, compared, 1e-2)
    expected.assert_close(found, 1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_groups_of_features_are_present_together(kernel):
    model, columns = fitted(kernel=KERNELS[kernel]), [[0, 2], [1], [3]]
    both, pairs = np.concatenate([A[0], B[0]]), pairs_of(BACKGROUND[:2])
    groups = {"form": [0, 2]}
    sides = [[*own, *(D + j for j in own)] for own in columns]
    for game, by_brute_force in (("interventional", interventional), ("marginal", marginal)):
        found = model.explain_items(
            A, B, background=BACKGROUND[:2], value_function=game, groups=groups
        )
        expected, _ = by_brute_force(output_of(model), both, pairs, groups=sides)
        expected.assert_close(found.values[0])
    assert found.feature_names == ["form", "x1", "x3"]
    assert found.data[0, 1] == A[0, 1] - B[0, 1]
    game = pkex.Observational(COMPARING, 1e-2)
    found = model.explain_items(
        A, B, background=ITEMS[:6], value_function=game, groups=groups
    ).values
    expected = conditional(output_of(model), A[0], B[0], ITEMS[:6], compared, 1e-2, groups=columns)
    expected.assert_close(found[0])
    against_all = model.explain_items(A, groups={"all": range(D)})
    assert against_all.values.shape == (len(A), 1)
    means = [model.predict(np.tile(a, (len(ITEMS), 1)), ITEMS).mean() for a in A]
    np.testing.assert_allclose(against_all.values[:, 0], means, rtol=0, atol=1e-12)


# --- contexts ---

OF_CONTEXTS = RBF([1.0, 0.5, 2.0])


def values_of_context(game, output, context, groups=None):
    """The values by brute force, and that of the empty coalition, None if it is not computed."""
    if game != "observational":
        by_brute_force = interventional if game == "interventional" else marginal
        return by_brute_force(output, context, CONTEXT[:3], groups=groups)

    def kernel(a, b, members):
        return RBF(np.array(OF_CONTEXTS.length_scale)[members])(a, b)

    values = observational(output, context, CONTEXT[:3], kernel, 1e-2, groups=groups)
    return Reference(values, 1.0), None


@pytest.mark.parametrize("game", ["interventional", "marginal", "observational"])
def test_groups_of_circumstances_are_present_together(game):
    model = fitted(CONTEXT, PreferenceLogistic)
    told = pkex.Observational(OF_CONTEXTS, 1e-2) if game == "observational" else game
    context = CONTEXT[5] + 0.05
    explanation = model.explain_context(
        context[None],
        A[:1],
        B[:1],
        background=CONTEXT[:3],
        value_function=told,
        groups={"weather": [0, 2]},
    )
    assert explanation.feature_names == ["weather", "x1"]

    def output(rows):
        return np.array([mean_output(model, A[:1], B[:1], row) for row in rows])

    expected, _ = values_of_context(game, output, context, groups=[[0, 2], [1]])
    expected.assert_close(explanation.values[0])


@pytest.mark.parametrize("game", ["interventional", "marginal", "observational"])
@pytest.mark.parametrize("of_pairs", [True, False])
def test_values_of_contexts_are_those_by_brute_force(game, of_pairs):
    model = fitted(CONTEXT, PreferenceLogistic)
    several = CONTEXT[[5, 0, 5]] + 0.05
    items = [A, B] if of_pairs else []
    told = pkex.Observational(OF_CONTEXTS, 1e-2) if game == "observational" else game
    found = model.explain_context(several, *items, background=CONTEXT[:3], value_function=told)
    for row, context in enumerate(several):
        left, right = (A[[row]], B[[row]]) if of_pairs else (LEFT, RIGHT)

        def output(rows, left=left, right=right):
            return np.array([mean_output(model, left, right, row) for row in rows])

        expected, empty = values_of_context(game, output, context)
        expected.assert_close(found.values[row])
        if empty is not None:
            assert abs(found.base_values[row] - empty) <= 1e-12
        total = found.values[row].sum() + found.base_values[row]
        assert abs(total - output(context[None])[0]) <= 1e-12


def mean_output(model, left, right, context):
    contexts = np.tile(context, (len(left), 1))
    return model.decision_function(left, right, contexts).mean()


def test_contexts_of_the_fit_count_as_often_as_they_occur():
    repeated = CONTEXT[[0, 0, 0, 1, 2] + [3] * (N - 5)]
    model = fitted(repeated)
    found = model.explain_context(CONTEXT[:3], A, B)
    assert found.value_function == "marginal"
    given = model.explain_context(CONTEXT[:3], A, B, background=repeated, value_function="marginal")
    np.testing.assert_allclose(found.values, given.values, rtol=0, atol=1e-13)
    drawn = model.explain_context(CONTEXT[:3], A, B, value_function="interventional")
    means = [mean_output_of_ridge(model, a, b, repeated) for a, b in zip(A, B, strict=True)]
    np.testing.assert_allclose(drawn.base_values, means, rtol=0, atol=1e-13)


def mean_output_of_ridge(model, a, b, contexts):
    left, right = (np.tile(row, (len(contexts), 1)) for row in (a, b))
    return model.predict(left, right, contexts).mean()
