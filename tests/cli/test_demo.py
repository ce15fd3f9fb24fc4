"""``python -m pkex``: the demo, the version, and what is said when a library is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import metadata, version
from pathlib import Path

import numpy as np
import pytest

import pkex
from pkex.cli.main import main


def _python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # No display: the demo must not need one.
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment | {"PYTHONUTF8": "1"},
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints, and the directory with its pictures."""
    pytest.importorskip("matplotlib")
    directory = tmp_path_factory.mktemp("demo")
    done = _python("-m", "pkex", "demo", "--output", "a/b", cwd=directory)
    assert done.returncode == 0, done.stderr
    return done.stdout, directory / "a" / "b"


@pytest.mark.slow
def test_demo_explains_every_row_of_three_data_sets(demo):
    sizes = re.findall(r"Explanation\((.*?), marginal", demo[0])
    assert sizes == [
        "442 rows × 10 features",
        "569 rows × 30 features, output '1 vs 0'",
        "178 rows × 13 features × 3 outputs",
    ]


@pytest.mark.slow
def test_demo_values_add_up_to_the_output_to_rounding(demo):
    pattern = r"largest \|base \+ Σφ - output\|: (\S+) \(outputs up to (\S+)\)"
    found = re.findall(pattern, demo[0])
    assert len(found) == 3
    for error, scale in found:
        assert float(error) <= 1e-12 * float(scale)


@pytest.mark.slow
def test_demo_prints_the_strongest_features_of_each_model_in_order(demo):
    tables = re.findall(
        r"(?:feature|mean \|value\| of) (.*)\n((?:.*\n){8}) *\((\d+) smaller features not shown\)",
        demo[0],
    )
    assert [int(left_out) for _, _, left_out in tables] == [2, 22, 5]
    pairs = ["class_0 vs class_1", "class_0 vs class_2", "class_1 vs class_2"]
    assert re.findall("class_. vs class_.", tables[2][0]) == pairs
    for number, (_, lines, _) in enumerate(tables):
        rows = [re.findall(r"  (\d\S*)", line) for line in lines.splitlines()]
        largest = [max(map(float, row)) for row in rows]
        assert {len(row) for row in rows} == {3 if number == 2 else 1}
        assert largest == sorted(largest, reverse=True)
        assert largest[-1] > 0
    # What every model of these patients finds.
    assert tables[0][1].split()[0] == "bmi"


@pytest.mark.slow
def test_demo_prints_the_time_per_row(demo):
    times = re.findall(r"time per row: (\S+) µs", demo[0])
    assert len(times) == 3
    assert all(0 < float(time) < 1e5 for time in times)


@pytest.mark.slow
def test_demo_saves_the_pictures_that_it_names(demo):
    image = pytest.importorskip("matplotlib.image")
    printed, directory = demo
    named = re.findall(r"picture: (.*)", printed)
    assert [Path(name).name for name in named] == ["diabetes.png", "breast_cancer.png", "wine.png"]
    for name in named:
        pixels = image.imread(directory / Path(name).name)[..., :3]
        assert min(pixels.shape[:2]) > 200
        # The points are red, blue and between; text and axes are grey.
        coloured = np.ptp(pixels, axis=2) > 0.3
        assert coloured.sum() > 1000


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"pkex {version('pkex')}\n"
    assert pkex.__version__ == version("pkex")


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["demo", "--nonsense"]])
def test_a_wrong_command_is_an_error_that_names_the_help(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("--help)\n")


@pytest.mark.parametrize("library", ["sklearn", "matplotlib", "pandas"])
def test_a_missing_library_names_the_extra(library, tmp_path):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from pkex.cli.main import main; sys.exit(main())"
    )
    done = _python("-c", code, "demo", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{library} is not installed" in done.stderr
    assert "pip install scikit-learn matplotlib pandas " in done.stderr
    assert "pip install 'pkex[demo]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert "demo" in (metadata("pkex").get_all("Provides-Extra") or [])


def test_a_library_that_cannot_be_used_is_told_without_a_traceback(tmp_path):
    code = (
        "import sys, pkex.cli.main, sklearn.datasets as d\n"
        "def load(**_): raise ImportError('as_frame requires a newer pandas')\n"
        "d.load_diabetes = load\n"
        "sys.exit(pkex.cli.main.main())"
    )
    done = _python("-c", code, "demo", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be used: as_frame requires a newer pandas. Install them" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_itself_needs_none_of_the_extras(tmp_path):
    code = "import sys, pkex.cli.main; print({'sklearn', 'matplotlib'} & set(sys.modules))"
    done = _python("-c", code, cwd=tmp_path)
    assert done.stdout == "set()\n", done.stderr
