"""Estimators for large samples, which compare some of the pairs of rows.

`design` chooses the pairs and `sample` reads their rows in chunks. `block_sums` sums over blocks of
rows, and `error_of_means` adds the error of mean factors to standard errors.
"""
