"""The reference, in which columns that are constant there but not elsewhere vary by one row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pkex.errors import Argument, InputWarning, warn
from pkex.inputs.wording import shown
from pkex.kernels.scales import Constants
from pkex.typing import Float

__all__ = ["with_rare"]


def with_rare(reference: Float, extremes: Float, names: Mapping[int, str], what: str) -> Float:
    """Return the reference with an entry of other rows where a column differs in these alone.

    At most about one of as many rows as the reference has differs from the others then, and the
    column's standard deviation is taken for that of one. Extremes do not depend on which rows are
    which sample's, so that tests stay exact.

    Parameters
    ----------
    reference : ndarray of shape (k, d)
    extremes : ndarray of shape (·, d)
        The smallest and the largest entries among all rows.
    names : dict of int to str
        The columns that are warned of.
    what : str
        What messages call the rows.
    """
    of_all = Constants.of(extremes).columns
    rare = [j for j in Constants.of(reference).columns if j not in of_all]
    if not rare:
        return reference
    changed = reference.copy()
    for j in rare:
        own = extremes[:, j]
        changed[0, j] = own[np.argmax(np.abs(own - reference[0, j]))]
    titles = [names[j] for j in rare if j in names]
    if titles:
        warn(
            InputWarning(
                None,
                (
                    f"columns {shown(titles)} of the {len(reference)} rows of ",
                    Argument(what),
                    " are constant, and of other rows are not: length-scales and means of absent "
                    "features are found as if one of these rows had the most distant value",
                ),
            )
        )
    return changed
