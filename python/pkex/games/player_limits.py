"""The numbers of players whose coalitions are all evaluated, and the alternatives for more."""

from __future__ import annotations

from pkex.errors import Option, Text

MAX_PLAYERS = 20
# If the values of coalitions are sums of dividends, such as those of dot products.
MAX_PLAYERS_OF_DIVIDENDS = 16

GROUP_COLUMNS: Text = ("group columns by ", Option("groups", python="groups={...}"))


def estimate_by(call: str) -> Text:
    """Return the alternative of estimated values, by a Python call."""
    option = Option("n_coalitions", 1000, python=call)
    return "estimate values, with standard errors, by ", option
