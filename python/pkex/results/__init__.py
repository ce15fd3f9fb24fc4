"""Results: what stands along their axes, and how they are printed, drawn and reported."""
