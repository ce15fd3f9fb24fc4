"""The games: players, value functions, coalitions and indices."""
