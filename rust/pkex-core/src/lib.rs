//! Exact Shapley values of weighted sums of product games.
