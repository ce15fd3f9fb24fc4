"""What is public changes only together with its snapshot, so that nobody changes it unawares."""

from difflib import unified_diff

import pytest
from public_surface import SNAPSHOT, public_surface


def test_public_names_and_signatures_are_those_of_the_snapshot():
    pytest.importorskip("shap")
    pytest.importorskip("shapiq")
    expected = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    changes = unified_diff(expected, list(public_surface()), SNAPSHOT.name, "now", "", "", 1, "")
    message = "\n".join(changes)
    assert not message, (
        f"the public surface changed:\n{message}\n"
        "if that is meant: `make surface`, and a line in CHANGELOG.md"
    )
