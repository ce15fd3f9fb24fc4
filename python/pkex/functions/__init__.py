"""Functions that can be explained exactly, and how they are made from each other.

The leaves are `KernelSum`s and linear functions. A model made of models is a tree above them:
values are linear in the function, so those of a `Combination` or `Stack` are combined or stacked,
and those of a `Transformed` function belong to the columns from which its own columns are made.
"""
