"""Standard errors and p-values over simulated data sets without effects."""

import numpy as np


def check_calibration(results):
    """Check that errors cover the expected value 0, and that p-values are uniform."""
    values = np.array([r.values for r in results])
    errors = np.array([r.standard_errors for r in results])
    # Estimated on some 32 parts, the error of an error is an eighth.
    assert (np.mean(np.abs(values) < 1.96 * errors, axis=0) > 0.82).all()
    ratio = np.mean(errors**2, axis=0) / values.var(axis=0)
    assert ((ratio > 0.6) & (ratio < 1.5)).all()
    pvalues = np.array([[r.pvalue, *r.feature_pvalues, *r.alone_pvalues] for r in results])
    # Shares of uniform p-values ± 3.3 standard deviations.
    for level in (0.05, 0.2, 0.5):
        share = np.mean(pvalues <= level + 1e-9, axis=0)
        assert (np.abs(share - level) < 3.3 * np.sqrt(level * (1.0 - level) / len(results))).all()
