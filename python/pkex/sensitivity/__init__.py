"""Global sensitivity: the shares of inputs in the variance of a model's output.

`inputs` reads distributions, and `distributions` has their quadrature rules. `deviations` computes
the arrays of the engine from the factors of a function, and `variance_values` calls it. `indices`
are shares of the variance, `uncertainty` has the indices of draws, `analysis` combines these
modules, and `result` and `draws` are the results.
"""

from pkex.sensitivity.analysis import sensitivity
from pkex.sensitivity.draws import SensitivityDraws
from pkex.sensitivity.result import SensitivityResult

__all__ = ["SensitivityDraws", "SensitivityResult", "sensitivity"]
