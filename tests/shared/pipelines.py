"""Pipelines of every kind of step, with the data that they are fitted to."""

import warnings

import numpy as np
import pandas as pd
from brute_force import coalitions, shapley_weights, weighted_games
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVR

RNG = np.random.default_rng(0)
D = 6
NAMES = list("abcdef")
# Scales from 1e-6 to 1e6, offsets, repeated rows and repeated entries.
BASE = RNG.normal(size=(70, D))
Y = BASE[:, 1] + np.sin(2.0 * BASE[:, 4]) + 0.5 * BASE[:, 0] * BASE[:, 2]
X = BASE * [1e-6, 1.0, 1e6, 100.0, 10.0, 1.0] + [0.0, 5.0, -1e6, 1e4, 0.0, 0.0]
X[10:15], Y[10:15] = X[0], Y[0]
X[:, 5] = np.round(X[:, 5])
POSITIVE = np.abs(X) + 1e-7
MISSING = X.copy()
MISSING[::7, 1] = MISSING[3::9, 5] = np.nan
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = [0, 7, 21, 33]


def bins():
    with warnings.catch_warnings():  # the default of quantile_method changes
        warnings.simplefilter("ignore", FutureWarning)
        return KBinsDiscretizer(4, encode="ordinal", strategy="uniform")


# name: (steps before the model, the data)
STEPS = {
    "StandardScaler": ([StandardScaler()], X),
    "StandardScaler without mean": ([StandardScaler(with_mean=False)], X),
    "MinMaxScaler": ([MinMaxScaler()], X),
    "MinMaxScaler clip": ([MinMaxScaler((-1, 2), clip=True)], X),
    "MaxAbsScaler": ([MaxAbsScaler()], X),
    "RobustScaler": ([RobustScaler(quantile_range=(10, 80))], X),
    "QuantileTransformer": ([QuantileTransformer(n_quantiles=20)], X),
    "QuantileTransformer normal": (
        [QuantileTransformer(n_quantiles=70, output_distribution="normal")],
        X,
    ),
    "PowerTransformer": ([StandardScaler(), PowerTransformer()], X),
    "PowerTransformer box-cox": ([PowerTransformer("box-cox"), MinMaxScaler()], POSITIVE),
    "KBinsDiscretizer": ([bins()], X),
    "Binarizer": ([StandardScaler(), Binarizer(threshold=0.3)], X),
    "function": ([FunctionTransformer(np.log), StandardScaler()], POSITIVE),
    "function of scaled": ([StandardScaler(), FunctionTransformer(np.cbrt)], X),
    "identities": (["passthrough", FunctionTransformer(), StandardScaler(), None], X),
    "SimpleImputer": ([SimpleImputer(), StandardScaler()], MISSING),
    "SimpleImputer constant": (
        [StandardScaler(), SimpleImputer(strategy="constant", fill_value=-1.0)],
        MISSING,
    ),
    "SimpleImputer median, then selected": (
        [SimpleImputer(strategy="median"), StandardScaler(), SelectKBest(f_regression, k=3)],
        MISSING,
    ),
    "SelectKBest": ([SelectKBest(f_regression, k=3), StandardScaler()], X),
    "SelectFromModel": ([StandardScaler(), SelectFromModel(Ridge())], X),
    "RFE": ([StandardScaler(), RFE(Ridge(), n_features_to_select=2)], X),
    "VarianceThreshold": ([VarianceThreshold(0.5), StandardScaler()], X),
    "selected twice": (
        [VarianceThreshold(1e-3), StandardScaler(), SelectKBest(f_regression, k=2), bins()],
        X,
    ),
    "nested": (
        [make_pipeline(VarianceThreshold(1e-3), make_pipeline(RobustScaler())), MinMaxScaler()],
        X,
    ),
    "by number": (
        [
            ColumnTransformer(
                [("r", RobustScaler(), [4, 1]), ("s", StandardScaler(), [3])],
                remainder=MinMaxScaler(),
            )
        ],
        X,
    ),
    "by negative number and slice, rest dropped": (
        [
            ColumnTransformer([("a", StandardScaler(), [-2]), ("b", MinMaxScaler(), slice(0, 2))]),
            PowerTransformer(),
        ],
        X,
    ),
    "by mask, rest passed": (
        [
            ColumnTransformer(
                [
                    ("m", QuantileTransformer(n_quantiles=9), np.array([0, 1, 0, 0, 1, 0], bool)),
                    ("no", "drop", [2]),
                    ("none", StandardScaler(), []),
                ],
                remainder="passthrough",
            ),
            StandardScaler(),
        ],
        X,
    ),
    "by name": (
        [
            ColumnTransformer(
                [
                    ("a", StandardScaler(), ["e", "b"]),
                    ("b", make_pipeline(StandardScaler(), bins()), ["f"]),
                ]
            )
        ],
        FRAME,
    ),
    "by slice of names, by function": (
        [
            ColumnTransformer(
                [
                    ("a", StandardScaler(), slice("d", "f")),
                    ("b", MinMaxScaler(), lambda frame: ["c", "a"]),
                ]
            )
        ],
        FRAME,
    ),
    "by selector, then selected": (
        [
            ColumnTransformer(
                [("a", StandardScaler(), make_column_selector(pattern="[a-e]"))],
                remainder="passthrough",
            ),
            SelectKBest(f_regression, k=4),
        ],
        FRAME,
    ),
    "ColumnTransformer in another": (
        [
            ColumnTransformer(
                [
                    ("z", ColumnTransformer([("y", StandardScaler(), [1])]), [0, 4]),
                    ("w", make_pipeline(SimpleImputer(), StandardScaler()), [1, 3, 5]),
                ]
            )
        ],
        MISSING,
    ),
}


def fitted(name, model=None):
    steps, data = STEPS[name]
    return make_pipeline(*steps, SVR(C=3.0) if model is None else model).fit(data, Y), data


def predict_of(pipeline):
    return lambda rows: pipeline.predict(pd.DataFrame(rows, columns=NAMES))


def grouped(kernel, row, svr, groups):
    """The neutral game of players who have several of the model's columns, by brute force."""
    games = np.ones((2 ** len(groups), len(svr.support_)))
    for number, players in enumerate(coalitions(len(groups))):
        members = [column for player in players for column in groups[player]]
        if members:
            games[number] = kernel(row[None, members], svr.support_vectors_[:, members])
    return weighted_games(games, svr.dual_coef_[0], shapley_weights(len(groups)))


CODES = np.round(np.abs(BASE) * 1.5)  # some categories in each column
