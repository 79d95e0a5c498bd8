"""A TOML file with the line numbers of its keys."""

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
    """A TOML file. `data` is {} if it does not exist."""

    path: Path
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    exists: bool = False

    @cached_property
    def _lines(self) -> dict[tuple[str, ...], int]:
        return dict(reversed([*statements(self.text)]))  # the first line of each key remains

    def line(self, *keys: str) -> int:
        """Return the line on which a key is set, or its table begins; 0 if unknown."""
        lengths = range(len(keys), 0, -1)
        return next((self._lines[keys[:length]] for length in lengths if keys[:length] in self._lines), 0)

    def where(self, *keys: str) -> str:
        """Return file and line of a key: `/home/me/.config/ktui/config.toml:12`."""
        line = self.line(*keys)
        return f"{self.path}:{line}" if line else str(self.path)


def read_toml(path: Path) -> TomlFile:
    """Read a TOML file; a missing one is empty. Raises ConfigError if it cannot be read."""
    from ktui.documents.limits import parse_toml, read_toml_text  # start-up time

    try:
        text = read_toml_text(path)
        return TomlFile(path, text, parse_toml(text), True)
    except FileNotFoundError:
        return TomlFile(path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except DocumentError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def statements(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield keys and lines. tomllib has no line numbers, so each statement is parsed separately."""
    import tomllib  # start-up time

    table: tuple[str, ...] = ()
    lines: list[str] = []
    read, budget = 0, 10 * len(text) + _SHORT  # bounds the work: each further line reads its statement again
    for number, line in enumerate(text.splitlines(), 1):
        lines.append(line)
        read += sum(map(len, lines))
        if read > budget:
            return
        try:
            part = tomllib.loads("\n".join(lines))
        except tomllib.TOMLDecodeError:
            continue  # an array or a text that continues on the next line
        begin, lines = number - len(lines) + 1, []
        if line.lstrip().startswith("[") and part:
            table = next(_paths(part))
            yield table, begin
        else:
            yield from ((table + path, begin) for path in _paths(part))


def _paths(data: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all keys, deepest first: the first one is a header's path."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from ((key, *rest) for rest in _paths(value))
        yield (key,)
