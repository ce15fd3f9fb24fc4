"""Rows that are copies of others, which permutations do not know, are warned of."""

import numpy as np
import pandas as pd
import pytest

import pkex

RNG = np.random.default_rng(0)
TESTED = {"n_permutations": 19, "random_state": 0}


def measured(n):
    a, c = RNG.normal(size=(2, n))
    columns = {"a": a, "b": RNG.integers(0, 3, n), "c": c.round(1)}
    return pd.DataFrame(columns).assign(d=RNG.choice(["p", "q"], n))


def copied(table, n):
    return pd.concat([table, table[:n]], ignore_index=True)


CALLS = {
    "X": lambda table: pkex.mmd(table, measured(60), **TESTED),
    "Y": lambda table: pkex.mmd(measured(60), table, **TESTED),
    "X and y": lambda table: pkex.hsic(table, table["a"], **TESTED),
    "X_reference": lambda table: pkex.MMDDrift(table, **TESTED),
    "batch": lambda table: pkex.MMDDrift(measured(60), **TESTED).predict(table),
}


@pytest.mark.parametrize("name", CALLS)
def test_copies_of_rows_are_warned_of(name):
    rows = "X" if name == "batch" else name
    with pytest.warns(UserWarning, match=f"^5 of 105 rows of {rows} equal .*p-values are too"):
        CALLS[name](copied(measured(100), 5))


def test_rows_that_are_equal_by_chance_or_are_not_tested_are_not_warned_of():
    table = measured(200)
    # Without a column of many fractions a third of the rows are equal by chance.
    few = table.drop(columns="a")
    pkex.mmd(few[:100], few[100:], **TESTED)
    # Numbers that are missing are equal where they are imputed.
    gaps = table[["a", "b", "d"]].assign(a=table["a"].where(RNG.random(200) < 0.7))
    pkex.mmd(gaps[:100], gaps[100:], missing="indicator", **TESTED)
    pkex.mmd(copied(table[:100], 2), table[100:], **TESTED)
    pkex.mmd(copied(table[:100], 100), table[100:])
