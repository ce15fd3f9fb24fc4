"""How a call runs: its method and sums, its threads, and its progress."""
