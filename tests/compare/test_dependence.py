"""Whether pairs of columns depend on each other alike in both samples."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial import legendre

import pkex
from pkex.compare.permutation.pair_dependence import DependenceTest
from pkex.tables.encode import Column, Encoding

LEVELS = Column("label", "text", "labels", tuple("abcde"))
COLUMNS = (*(Column(f"x{j}", "number", "numbers") for j in range(3)), LEVELS)


def _table(rng, n, frequencies=(0.4, 0.3, 0.2, 0.05, 0.05)):
    return np.column_stack([rng.normal(size=(n, 3)), rng.choice(5, n, p=frequencies)])


def _pairs(x, y, columns=COLUMNS, n_permutations=99, seed=0):
    generator = np.random.default_rng(seed)
    return DependenceTest.of(x, y, Encoding(tuple(columns)), n_permutations, generator).pairs


def _named(pairs):
    return [pair.columns for pair in pairs if pair.familywise_pvalue <= 0.05]


def _shifted(rows):
    """Every column has another distribution, and none depends on another more than before."""
    rows[:, :3] = np.exp(rows[:, :3]) * [1.0, 2.0, 3.0] + 1.0
    return rows


@pytest.mark.parametrize("depends", [False, True], ids=["independent", "dependent"])
@pytest.mark.parametrize("shifts", [False, True], ids=["equal", "shifted"])
def test_pairs_are_named_in_five_percent_of_tables_where_no_dependence_changes(depends, shifts):
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sizes = (300, 60) if seed % 2 else (150, 150)
        rarer = (0.1, 0.1, 0.2, 0.3, 0.3) if shifts and not depends else (0.4, 0.3, 0.2, 0.05, 0.05)
        x, y = _table(rng, sizes[0]), _table(rng, sizes[1], rarer)
        for rows in (x, y):
            if depends:
                rows[:, 1] = 0.8 * rows[:, 0] + 0.6 * rows[:, 1]
                rows[:, 2] += rows[:, 3] == 1.0
        found += bool(_named(_pairs(x, _shifted(y) if shifts else y, seed=seed)))
    # Three standard errors above 10 of 200.
    assert found <= 19


def test_no_pair_is_named_where_independent_columns_become_rare():
    columns = [Column(f"x{j}", "number", "numbers") for j in range(5)]
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = (
            (rng.random((n, 5)) < share).astype(float) for n, share in ((100, 0.5), (1000, 0.03))
        )
        found += bool(_named(_pairs(x, y, columns, seed=seed)))
    assert found <= 6


def _correlated(x, y):
    y[:, 1] = 0.6 * y[:, 0] + 0.8 * y[:, 1]


def _label_and_number(x, y):
    y[:, 1] += 1.5 * (y[:, 3] == 1.0)


def _sign(x, y):
    for rows, sign in ((x, 1.0), (y, -1.0)):
        rows[:, 2] = sign * 0.5 * rows[:, 0] + rows[:, 2]


@pytest.mark.parametrize(
    ("plant", "pair"),
    [(_correlated, ("x0", "x1")), (_label_and_number, ("x1", "label")), (_sign, ("x0", "x2"))],
)
def test_a_pair_whose_dependence_changes_is_named(plant, pair):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = _table(rng, 500), _table(rng, 500)
        plant(x, y)
        assert _pairs(x, y, seed=seed)[0].columns == pair
        assert pair in _named(_pairs(x, y, seed=seed))


def test_the_statistic_is_the_squared_difference_of_cross_covariances(rng):
    x, y = _table(rng, 100), _table(rng, 60, (0.3, 0.3, 0.2, 0.1, 0.1))
    x[:, 1], y[:, 1] = np.round(x[:, 1]), np.round(y[:, 1])

    def features(rows, j):
        if j == 3:
            # The four most frequent levels of both.
            return (rows[:, [3]] == levels).astype(float)
        below = (rows[:, [j]] > rows[:, j]).mean(axis=1)
        ranks = below + (rows[:, [j]] == rows[:, j]).mean(axis=1) / 2.0
        return legendre.legvander(2.0 * ranks - 1.0, 3)[:, 1:]

    counts = np.bincount(np.concatenate([x[:, 3], y[:, 3]]).astype(int))
    levels = np.argsort(-counts, kind="stable")[:4]
    assert all((rows[:, 3] == level).sum() >= 5 for rows in (x, y) for level in levels[:3])
    levels = [v for v in levels if min((rows[:, 3] == v).sum() for rows in (x, y)) >= 5]
    for pair in _pairs(x, y):
        places = [[column.name for column in COLUMNS].index(name) for name in pair.columns]
        of_samples, counts = [], True
        for rows in (x, y):
            standardized = []
            for j in places:
                own = features(rows, j)
                weights = np.ones(own.shape[1]) if j == 3 else [1.0, 0.6, 0.3]
                standardized.append((own - own.mean(axis=0)) / own.std(axis=0) * weights)
            kurtoses = [(own**4).mean(axis=0) / own.var(axis=0) ** 2 for own in standardized]
            counts &= np.outer(*kurtoses) <= len(rows) / 10.0
            of_samples.append(standardized[0].T @ standardized[1] / len(rows))
        np.testing.assert_allclose(
            pair.statistic, ((of_samples[0] - of_samples[1])[counts] ** 2).sum(), rtol=1e-4
        )


def test_of_many_columns_the_most_dependent_pairs_are_tested_and_of_very_many_none(rng):
    x, y = rng.normal(size=(2, 200, 101))
    y[:, 30] = 0.8 * y[:, 20] + 0.6 * y[:, 30]
    columns = [Column(str(j), "number", "numbers") for j in range(101)]
    pairs = _pairs(x[:, :100], y[:, :100], columns[:100])
    assert len(pairs) == 300
    assert pairs[0].columns == ("20", "30")
    assert _pairs(x, y, columns) == ()


def test_pairs_with_a_constant_column_are_left_out_and_not_for_their_rows_alone(rng):
    x, y = rng.normal(size=(2, 400, 3))
    x[:, 1] = y[:, 1] = 7.0
    generator = np.random.default_rng(0)
    test = DependenceTest.of(x, y, Encoding(COLUMNS[:3]), 9, generator)
    assert [pair.columns for pair in test.pairs] == [("x0", "x2")]
    assert test.description == "1 of 3 tested, the others have too few rows or a constant column"


def test_results_have_the_pairs_and_keep_them_without_the_rows(rng):
    x, y = rng.normal(size=(2, 400, 3))
    y[:, 1] = 0.6 * y[:, 0] + 0.8 * y[:, 1]
    # Of changed entries later nothing is seen.
    first, second = x.copy(), y.copy()
    result = pkex.mmd(first, second, n_permutations=99, random_state=0)
    first[:], second[:] = 0.0, 0.0
    assert (
        result.pair_dependence == pkex.mmd(x, y, n_permutations=99, random_state=0).pair_dependence
    )
    assert _named(result.pair_dependence) == [("x0", "x1")]
    assert "dependence differs, adjusted p ≤ 0.05: x0 and x1" in repr(result)
    again = pickle.loads(pickle.dumps(result))
    assert again.pair_dependence == result.pair_dependence
    assert len(pickle.dumps(result)) < x.nbytes
    drift = pkex.MMDDrift(x, n_permutations=99, random_state=0)
    assert _named(drift.predict(y).pair_dependence) == [("x0", "x1")]
    assert pkex.mmd(x, y).pair_dependence is None
    large = [np.tile(rows, (5, 1)) + 0.1 * rng.normal(size=(2000, 3)) for rows in (x, y)]
    result = pkex.mmd(*large, estimator="block", n_permutations=99, random_state=0)
    assert _named(result.pair_dependence) == [("x0", "x1")]


def test_dependence_on_what_is_missing_is_seen(rng):
    x, y = (pd.DataFrame(rows, columns=list("abc")) for rows in rng.normal(size=(2, 400, 3)))
    for table, is_missing in ((x, rng.random(400) < 0.3), (y, y["b"] > 0.5)):
        table.loc[is_missing, "a"] = np.nan
    result = pkex.mmd(x, y, missing="indicator", n_permutations=99, random_state=0)
    assert result.pair_dependence[0].columns == ("a", "b")
    assert result.pair_dependence[0].familywise_pvalue == 0.01
