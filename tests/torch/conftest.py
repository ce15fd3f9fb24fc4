"""The tests of GPyTorch and BoTorch, which `make test-torch` runs where they are installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("botorch") else ["test_*.py"]
