"""Explain a tuned Pipeline in the units of its input columns.

A tenth of the measurements of diabetes patients is missing. The Pipeline imputes them, scales,
selects the best columns and predicts the progression of the disease. A search chooses its
parameters. Needs pkex[demo] and pkex[pandas]; saves pipeline.png in the working directory.

    python examples/pipeline.py
"""

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVR

import pkex

patients = load_diabetes(scaled=False, as_frame=True)
lost = np.random.default_rng(0).random(patients.data.shape) < 0.1
X, y = patients.data.mask(lost), patients.target

serum = ["s1", "s2", "s3", "s4", "s5", "s6"]
pipeline = make_pipeline(
    ColumnTransformer(
        [
            ("serum", make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=50)), serum),
            ("others", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), slice(4)),
        ]
    ),
    SelectKBest(f_regression),
    StandardScaler(),
    SVR(),
)
grid = {
    "selectkbest__k": [5, 7],
    "svr__C": [10, 100, 1000],
    "svr__gamma": [0.001, 0.01, 0.1],
}
search = GridSearchCV(pipeline, grid, cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)

# The best Pipeline of the search is explained, in terms of the ten columns of X.
explanation = pkex.Explainer(search)(X)

print(f"best: {search.best_params_}, R² {search.best_score_:.2f} in cross-validation")
print(explanation)
unused = explanation.importance() == 0.0
print("dropped:", ", ".join(np.array(explanation.feature_names)[unused]))
total = explanation.values.sum(axis=1) + explanation.base_values
error = np.abs(total - search.predict(X)).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {search.predict(X).max():.3g})")

# Missing values are gray in the picture.
ax = explanation.plot()
ax.set_xlabel(f"Shapley value of the predicted progression ({explanation.value_function})")
ax.figure.savefig("pipeline.png", dpi=200)
print("picture: pipeline.png")
