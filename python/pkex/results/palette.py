"""The colors of all pictures: plots, reports and tables.

The palette of Okabe and Ito (2008) is distinguishable with any color vision.
"""

from __future__ import annotations

BLUE, VERMILION = "#0072B2", "#D55E00"
# The same two on a dark page.
SKY_BLUE, ORANGE = "#56B4E9", "#E69F00"
GRAY, LIGHT_GRAY = "#7A7A7A", "#DADADA"
# Colors of feature values, from low to high.
LOW_TO_HIGH = (BLUE, "#A77BB0", VERMILION)
# The matplotlib style sheet in the folder of this file.
STYLE = "pkex.results.figures"


def channels(color: str) -> str:
    """Return red, green and blue of a color "#rrggbb", for CSS colors that are transparent."""
    return " ".join(str(int(color[place : place + 2], 16)) for place in (1, 3, 5))
