"""The examples in the docstrings of public classes and their methods.

pytest's own collection misses those of methods, since the classes say that they are of `pkex` and
their files say otherwise.
"""

import doctest
import inspect

import pytest

import pkex

FLAGS = doctest.NORMALIZE_WHITESPACE
CLASSES = [
    value
    for module in (pkex, pkex.kernels, pkex.models)
    for name in module.__all__
    if inspect.isclass(value := getattr(module, name))
]
# Some of whose methods are of classes behind them.
OWNERS = {
    base: None for cls in CLASSES for base in cls.__mro__ if base.__module__.startswith("pkex")
}
EXAMPLES = [
    pytest.param(test, id=test.name)
    for cls in OWNERS
    for test in doctest.DocTestFinder().find(
        cls, cls.__name__, module=False, globs={"pkex": pkex, **vars(pkex.kernels)}
    )
    if test.examples
]


@pytest.mark.parametrize("test", EXAMPLES)
def test_the_example_of_a_docstring_runs(test):
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)


def test_methods_are_among_the_examples():
    assert {"Attribution.importance", "Explainer.estimate", "Kernel.on"} <= {
        param.id for param in EXAMPLES
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_public_classes_say_where_users_find_them(cls):
    assert cls.__module__ in ("pkex", "pkex.kernels", "pkex.models")
