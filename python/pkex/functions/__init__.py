"""Functions with exact Shapley values, and functions made of other functions.

The elementary ones are `KernelSum`, `TermSum` and `LinearFunction`. Values are linear in the
function, so the values of a `Combination` or `Stack` are combined or stacked; the values of a
`Transformed` function belong to the original columns. Functions that are not sums over features
are `Coalitionwise`: each coalition is evaluated.
"""
