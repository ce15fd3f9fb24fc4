"""What these scripts share: their arguments, and the numbers and the picture that they save."""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

plt.style.use("pkex.results.figures")


class Experiment:
    """One run of a script: its settings, and what it saves.

    Parameters
    ----------
    description : str
        The docstring of the script.
    full : bool, default True
        Whether ``--full`` is an argument; not if the settings are always those of the paper.
    data : str, optional
        What the folder of ``--data`` holds. Without it, the script does not have this argument.
    """

    def __init__(self, description: str, *, full: bool = True, data: str | None = None) -> None:
        parser = argparse.ArgumentParser(description=description.partition("\n")[0])
        if full:
            parser.add_argument("--full", action="store_true", help="the settings of the paper")
        parser.add_argument("--seed", type=int, default=0, help="of all random draws")
        parser.add_argument(
            "--output",
            type=Path,
            default=Path(),
            metavar="FOLDER",
            help="of the numbers and picture",
        )
        if data is not None:
            parser.add_argument("--data", type=Path, metavar="FOLDER", help=data)
        settings = parser.parse_args()
        self.full: bool = getattr(settings, "full", False)
        self.seed: int = settings.seed
        self.data: Path | None = getattr(settings, "data", None)
        self._output: Path = settings.output
        self._start = time.process_time()

    def save(self, figure: Figure, numbers: Mapping[str, float | str]) -> None:
        """Save the picture and the numbers as files that are named after the script."""
        name = Path(sys.argv[0]).stem + ("_full" if self.full else "")
        self._output.mkdir(parents=True, exist_ok=True)
        figure.savefig(self._output / f"{name}.png", dpi=150)
        run = {
            "seed": self.seed,
            "cpu_seconds": round(time.process_time() - self._start, 1),
            "numbers": {key: _rounded(number) for key, number in numbers.items()},
        }
        text = json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        (self._output / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"numbers: {self._output / name}.json")
        print(f"picture: {self._output / name}.png")


def _rounded(number: float | str) -> float | str:
    """Return a number with five significant digits."""
    return number if isinstance(number, str) else float(f"{number:.5g}")
