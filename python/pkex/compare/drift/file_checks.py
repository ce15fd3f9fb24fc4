"""Checks of detectors that are read from files, so that their results cannot be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.compare.drift.reference import Reference
from pkex.compare.drift.test import DriftTest
from pkex.compare.permutation.permutations import check_fits
from pkex.compare.results.columns import are_texts, expect
from pkex.games.players import Players
from pkex.inputs.choices import ESTIMATORS
from pkex.kernels.scales import Constants
from pkex.tables.encode import Encoding
from pkex.typing import Float


def check_encoding(encoding: Encoding, rows: Float) -> None:
    """Raise an error for invalid columns, or rows that do not match them."""
    d = len(encoding.columns)
    expect(rows.shape[1] == d + len(encoding.flagged), "number of columns")
    expect(len(rows) >= 2 and np.isfinite(rows).all(), "rows")
    for column, entries in zip(encoding.columns, rows.T, strict=False):
        if column.is_label:
            expect(np.isin(entries, np.arange(len(column.levels or ()))).all(), "labels")
    expect(np.isin(rows[:, d:], (0.0, 1.0)).all(), "flags of missing values")


def check_players(players: Players, n_columns: int, constants: Constants) -> None:
    """Raise an error for players or constants that do not match the columns."""
    player_numbers = set(players.of_column.tolist())
    expect(len(players.of_column) == n_columns, "number of players' columns")
    expect(player_numbers == set(range(len(players))) and are_texts(players.names), "players")
    expect(players.groups <= set(players.names), "groups")
    expect(len(constants.columns) == len(constants.values), "constant columns")
    expect(set(constants.columns) <= set(range(n_columns)), "constant columns")
    expect(np.isfinite(np.array(constants.values, dtype=np.float64)).all(), "constants")


def check_words(header: dict[str, Any], encoding: Encoding) -> None:
    """Raise an error for invalid names, or names that do not match the columns."""
    bandwidth = header["bandwidth"]
    expect(header["conventions"]["estimator"] in ESTIMATORS, "estimator")
    expect(tuple(header["names"]) == encoding.names, "names of columns")
    expect(isinstance(encoding.known_from, str), "name of the reference")
    expect(bandwidth is None or isinstance(bandwidth, str), "bandwidth")


def parse_test(fields: dict[str, Any], threshold: Any, n_rows: int, n_players: int) -> DriftTest:
    """Return the options of a test, checked as for a new detector."""
    seed = tuple(fields["seed"])
    expect(seed and all(type(part) is int and part >= 0 for part in seed), "seed")
    test = DriftTest.of(
        fields["alpha"], fields["n_permutations"], fields["batch_size"], seed, n_rows
    )
    check_fits(test.n_permutations, n_players)
    expect((threshold is None) == (test.batch_size is None), "threshold")
    expect(threshold is None or np.isfinite(float(threshold)), "threshold")
    return test


def check_reference(reference: Reference) -> None:
    """Raise an error for sums that are not finite, or of the wrong shape."""
    terms, conventions = reference.comparison.terms, reference.comparison.conventions
    n, n_players, absent = len(reference.rows), terms.n_players, terms.absent
    is_neutral = conventions.value_function == "neutral" or terms.are_centered
    expect((absent is None) == is_neutral, "factors of absent features")
    if absent is not None:
        expected = terms.with_means(reference.engine_rows[:2], 1).absent
        expect(expected is not None and absent.shape == expected.shape, "shape of factors")
        expect(np.isfinite(absent).all(), "factors of absent features")
    for sums, shape in (
        (reference.row_sums, (n, n_players)),
        (reference.alone, (n_players,)),
        (reference.squares, (n_players,)),
    ):
        if sums.shape != shape:
            raise ValueError(f"sums of rows have shape {sums.shape}; expected {shape}")
        expect(np.isfinite(sums).all(), "sums of rows")
    for (size, number), sums in reference.block_sums.items():
        expect(size >= 1 and number >= 1 and size * number <= n, "blocks")
        n_groups = number + (size * number < n)
        expected_shape = (n_groups * (n_groups + 1) // 2, 2 * n_players)
        expect(sums.shape == expected_shape and np.isfinite(sums).all(), "sums of blocks")
