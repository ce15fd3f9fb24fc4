"""How a call runs: its threads, and its progress."""
