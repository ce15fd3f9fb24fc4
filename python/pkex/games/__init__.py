"""Games: players, value functions and backgrounds, coalitions, indices, the engine itself."""
