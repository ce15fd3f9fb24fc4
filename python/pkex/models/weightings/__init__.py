"""Random weightings: regressors that are sums of half-spaces, ReLUs or stumps."""
