"""Global sensitivity: which inputs the variance of a model's output comes from.

`inputs` reads the distributions, `distributions` makes quadrature rules of them, `deviations` turns
a function's factors into the arrays that the engine takes, `worths` calls it, `indices` are shares
of the variance, `uncertainty` has those of draws, `analysis` puts all together, `result` and
`draws` are what users get.
"""

from pkex.sensitivity.analysis import sensitivity
from pkex.sensitivity.draws import SensitivityDraws
from pkex.sensitivity.result import SensitivityResult

__all__ = ["SensitivityDraws", "SensitivityResult", "sensitivity"]
