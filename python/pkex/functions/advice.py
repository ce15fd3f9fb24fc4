"""What errors advise when a function has more players than exact values can be made of."""

from __future__ import annotations

from pkex.errors import Option, Text

__all__ = ["JOINED_COLUMNS", "estimated_by"]

JOINED_COLUMNS: Text = ("join columns by ", Option("groups", python="groups={...}"))


def estimated_by(call: str) -> Text:
    """Return the advice to estimate values by a call."""
    option = Option("n_coalitions", 1000, python=call)
    return "estimate values, with standard errors, by ", option
