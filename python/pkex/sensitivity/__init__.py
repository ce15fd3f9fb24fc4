"""Global sensitivity: which inputs the variance of a model's output comes from.

`inputs` reads the distributions, `distributions` makes quadrature rules of them, `deviations` turns
a function's factors into the arrays that the engine takes, `analysis` puts the indices together,
`result` is what users get.
"""

from pkex.sensitivity.analysis import sensitivity
from pkex.sensitivity.result import SensitivityResult

__all__ = ["SensitivityResult", "sensitivity"]
