"""What a Gaussian process knows of its function: variances and covariances of values."""
