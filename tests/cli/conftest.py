"""Files that commands are given, and a command that is run in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pkex.cli.main import main


@dataclass
class Done:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def record(self) -> dict[str, Any]:
        """Its JSON, which must not hold NaN."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.fixture
def run(capsys):
    """Run a command."""

    def run(*arguments: object) -> Done:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = ended.code
        return Done(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two samples of which `b` differs, one that does not differ, and one with a target."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    reference = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    current = pd.DataFrame(rng.normal(size=(100, 3)), columns=["a", "b", "c"])
    current.to_csv(folder / "same.csv", index=False)
    current["b"] += 1.5
    reference.to_csv(folder / "reference.csv", index=False)
    # In another order.
    current[["c", "b", "a"]].to_csv(folder / "current.csv", index=False)
    labelled = reference.assign(y=2.0 * reference["a"] + 0.1 * rng.normal(size=120))
    labelled.to_csv(folder / "labelled.csv", index=False)
    return folder
