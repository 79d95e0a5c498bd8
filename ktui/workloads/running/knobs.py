"""Knobs: typed and bounded settings of a workload that can be changed while it runs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

Value = int | float | bool | str

YES, NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


class WorkloadError(Exception):
    """A workload cannot be run as requested; the message is one clear sentence."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting of the type of `default`: `choices` are its texts, `least` and `most` bound a number."""

    name: str
    default: Value
    about: str
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 1_000_000
    unit: str = ""
    former: str = ""  # a name that it had, which `--set` still accepts

    def shown(self, value: Value) -> str:
        text = written(value)
        return f"{text} {self.unit}" if self.unit else text

    def parse(self, text: str) -> Value:
        """Return the value that `text` means; WorkloadError names what is wrong and what is allowed."""
        text = text.strip()
        if isinstance(self.default, bool):
            if text.lower() in (*YES, *NO):
                return text.lower() in YES
            raise WorkloadError(f"{self.name}={text!r}: write yes or no")
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                raise WorkloadError(f"{self.name}={text!r}: choose one of {', '.join(self.choices)}")
            return text
        return self._parse_number(text)

    def _parse_number(self, text: str) -> int | float:
        kind: Callable[[str], int | float] = int if isinstance(self.default, int) else float
        try:
            number = kind(text.replace(",", "").replace("_", "").removesuffix(self.unit or "\0").strip())
        except ValueError:
            raise WorkloadError(f"{self.name}={text!r} is not a number") from None
        if not self.least <= number <= self.most:
            raise WorkloadError(f"{self.name}={text}: from {self.least:g} to {self.most:g}")
        return number

    def next(self, value: Value, step: int) -> Value:
        """Return the next value: of choices the next one, of a number a fifth (at least 1) more or less."""
        if isinstance(self.default, bool):
            return not value
        if isinstance(self.default, str):
            if not self.choices:
                return value
            return self.choices[(self.choices.index(str(value)) + step) % len(self.choices)]
        assert isinstance(value, int | float)
        change = max(abs(value) / 5, 1 if isinstance(self.default, int) else 0.1)
        moved = value + (change if step > 0 else -change)
        moved = round(moved) if isinstance(self.default, int) else round(moved, 2)
        return min(max(moved, type(moved)(self.least)), type(moved)(self.most))


def written(value: Value) -> str:
    """Return a value as a user writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(slots=True)
class Knobs:
    """The values of one run. `changed` is called after each change."""

    knobs: tuple[Knob, ...]
    _values: dict[str, Value] = field(default_factory=dict)
    changed: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._values = {knob.name: knob.default for knob in self.knobs} | self._values

    def set(self, name: str, text: str) -> Value:
        """Change a knob; raise WorkloadError for an unknown knob or an invalid value."""
        knob = self.find(name)
        value = self._values[knob.name] = knob.parse(text)
        self.changed()
        return value

    def find(self, name: str) -> Knob:
        """Return the knob of that name; WorkloadError lists the names."""
        named = {knob.former: knob for knob in self.knobs if knob.former}
        named |= {knob.name: knob for knob in self.knobs}
        if name in named:
            return named[name]
        names = [knob.name for knob in self.knobs]
        raise WorkloadError(f"there is no knob {name!r}: {hint(name, names)}")

    def integer(self, name: str) -> int:
        return int(self._values[name])

    def number(self, name: str) -> float:
        return float(self._values[name])

    def text(self, name: str) -> str:
        return str(self._values[name])

    def yes(self, name: str) -> bool:
        return bool(self._values[name])

    def values(self) -> dict[str, Value]:
        return dict(self._values)


def hint(word: str, names: Collection[str]) -> str:
    """Return which of the names a user may have meant, or all of them."""
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"


def assign(knobs: Knobs, assignments: Iterable[str]) -> None:
    """Apply `name=value` words; WorkloadError names the invalid one."""
    for word in assignments:
        name, equals, text = word.partition("=")
        if not equals:
            raise WorkloadError(f"--set {word!r}: write NAME=VALUE, for example {knobs.knobs[0].name}=…")
        knobs.set(name.strip(), text)


def described(values: Mapping[str, Any]) -> str:
    """Return the values that are set, as `--set` takes them, on one line; of a file only its name."""
    texts = {name: text for name, value in values.items() if (text := written(value))}
    return " ".join(f"{name}={PurePath(text).name if '/' in text else text}" for name, text in texts.items())
