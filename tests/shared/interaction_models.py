"""Models whose features interact, and the worths of their coalitions."""

import numpy as np
from sklearn.svm import SVC, SVR

D = 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, D))
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) * X[:, 3] * X[:, 4] + X[:, 5]
ROWS = RNG.normal(size=(3, D))
Z = X[:3]
SINGLE = [[j] for j in range(D)]
SVR_MODEL = SVR(gamma=0.3).fit(X, Y)
THREE = SVC(gamma=0.3).fit(X, np.digitize(Y, [-0.5, 0.5]))
