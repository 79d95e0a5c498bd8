"""A TOML file with the lines that its keys stand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from ktui.config.errors import ConfigError
from ktui.documents.limits import DocumentError

_SHORT = 100_000  # characters


class TomlFile(Struct, frozen=True, dict=True):
    """`data` is {} for a file that is not there."""

    path: Path
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    exists: bool = False

    @cached_property
    def _lines(self) -> dict[tuple[str, ...], int]:
        return dict(_places(self.text))

    def line(self, *keys: str) -> int:
        """The line on which a key is set (the first of its statement), or its table begins; 0 unknown."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self._lines:
                return self._lines[keys[:length]]
        return 0

    def where(self, *keys: str) -> str:
        """`/home/me/.config/ktui/config.toml:12`."""
        line = self.line(*keys)
        return f"{self.path}:{line}" if line else str(self.path)


def read_toml(path: Path) -> TomlFile:
    """The file, or an empty one when there is none. Raises ConfigError for one that cannot be read."""
    from ktui.documents.toml import parse_toml, read_toml_text  # start-up time

    try:
        text = read_toml_text(path)
        return TomlFile(path, text, parse_toml(text), True)
    except FileNotFoundError:
        return TomlFile(path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except DocumentError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def _places(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every key of a file that is known to be TOML, with its line; the first mention comes last and wins."""
    found = list(_statements(text))
    yield from reversed(found)


def _statements(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """tomllib reports no line numbers: each statement is parsed alone, as soon as its lines are complete."""
    import tomllib  # start-up time

    table: tuple[str, ...] = ()
    lines: list[str] = []
    read, budget = 0, 10 * len(text) + _SHORT  # a statement of many lines is read with each of them again
    for number, line in enumerate(text.splitlines(), 1):
        lines.append(line)
        read += sum(map(len, lines))
        if read > budget:
            return
        try:
            part = tomllib.loads("\n".join(lines))
        except tomllib.TOMLDecodeError:
            continue  # an array or a text that goes on
        begin, lines = number - len(lines) + 1, []
        if line.lstrip().startswith("[") and part:
            table = next(_paths(part))
            yield table, begin
        else:
            yield from ((table + path, begin) for path in _paths(part))


def _paths(data: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Deepest first: the one path of a header comes first."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from ((key, *rest) for rest in _paths(value))
        yield (key,)
