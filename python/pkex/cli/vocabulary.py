"""The words of the command line in messages: files, options and lines."""

from __future__ import annotations

from typing import Any

from pkex.cli.parquet_chunks import ParquetChunks
from pkex.cli.tables import FileTable
from pkex.errors import Option, Vocabulary

# Keyword arguments that are also options of commands, without the prefix n_.
_OPTIONS = frozenset(
    {
        "background",
        "budget",
        "categorical",
        "estimator",
        "exclude",
        "leave_one_out",
        "link",
        "missing",
        "n_coalitions",
        "n_landmarks",
        "n_permutations",
        "outputs",
        "regularization",
        "target",
        "uncertainty",
        "value_function",
    }
)


class CommandVocabulary(Vocabulary):
    """The words of a command.

    Parameters
    ----------
    files : dict of str to str
        The names of files by the arguments of pkex that they are.
    """

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self._tables: dict[str, FileTable | ParquetChunks] = {}

    def locate(self, argument: str, table: FileTable | ParquetChunks) -> None:
        """Add the table of an argument, so that messages name lines of its file."""
        self._tables[argument] = table

    def argument(self, name: str) -> str:
        """Return the file of an argument, or its option."""
        file = self._files.get(name)
        if file is None and name in _OPTIONS:
            return _option_text(name)
        return file or name

    def option(self, option: Option) -> str | None:
        """Return an option with its value; None if commands do not have it."""
        if option.name not in _OPTIONS:
            return None
        words = [option.verb] if option.verb else []
        words.append(_option_text(option.name))
        if option.value is not None and option.value is not True:
            words.append(_value(option.value))
        return " ".join(words)

    def place(self, argument: str | None, row: int, column: int | str | None) -> str:
        """Return the line of the file, or the number of the row from 1, and the column's name."""
        table = self._tables.get(argument or "")
        if table is None:
            return super().place(argument, row, column)
        return table.place(row, column)


def _option_text(name: str) -> str:
    return f"--{name.removeprefix('n_').replace('_', '-')}"


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
