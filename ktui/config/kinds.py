"""The types of settings: how a value is written in TOML and in the environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct


class ValueType(Struct, frozen=True):
    """A type. `shape` describes valid values; `of_toml` and `of_text` parse one, or raise ValueError."""

    shape: str
    of_toml: Callable[[object], Any]
    of_text: Callable[[str], Any]
    is_path: bool = False
    words: tuple[str, ...] = ()

    def placed(self, value: Any, home: Path) -> Any:
        """Return `value`; a path is made relative to `home`, the directory of the config file."""
        return str(home / Path(value).expanduser()) if self.is_path else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _some_text(value: object) -> str:
    text = _text(value)
    if not text:
        raise ValueError
    return text


def _path(text: str) -> str:
    return str(Path(_some_text(text)).expanduser())


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError
    return value


def _at_least(least: int, number: int) -> int:
    if number < least:
        raise ValueError
    return number


def _pace(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError
    return float(value)


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _switch_text(text: str) -> bool:
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False,
             "off": False}  # fmt: skip
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]


def _names(value: object) -> str:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and w for w in words):
        raise ValueError
    return ",".join(words)


def _gates(value: object) -> str:
    if isinstance(value, dict):
        if not all(isinstance(on, bool) for on in value.values()):
            raise ValueError
        return ",".join(f"{gate}={str(on).lower()}" for gate, on in value.items())
    from ktui.kube.versions import BehaviourError, parse_gates  # start-up time

    text = _names(value)
    try:
        parse_gates(text)
    except BehaviourError as error:
        raise ValueError(str(error)) from error
    return text


def _version(value: object) -> str:
    from ktui.kube.versions import BehaviourError, behaviour_of  # start-up time

    try:
        behaviour_of(_text(value))
    except BehaviourError as error:
        raise ValueError(str(error)) from error
    return _text(value)


TEXT = ValueType('a text, like "name"', _some_text, _some_text)
PATH = ValueType("the path of a file, in quotes", _some_text, _path, is_path=True)
SWITCH = ValueType("true or false", _switch, _switch_text)
WHOLE = ValueType("a whole number", _whole, int)
COUNT = ValueType(
    "a number of at least 1",
    lambda value: _at_least(1, _whole(value)),
    lambda text: _at_least(1, int(text.replace(",", "").replace("_", ""))),
)
PORT = ValueType(
    "a port, 0 for a free one",
    lambda value: _at_least(0, _whole(value)),
    lambda text: _at_least(0, int(text)),
)
PACE = ValueType("a number above 0", _pace, lambda text: _pace(float(text)))
NAMES = ValueType('a list of texts, like ["one", "two"]', _names, _names)
GATES = ValueType("feature gates, like { WatchList = true }", _gates, _gates)
VERSION = ValueType('a Kubernetes version, like "1.30"', _version, _version)


def choice(*words: str) -> ValueType:
    """Return the type whose values are one of `words`."""

    def one(value: object) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return ValueType(" or ".join(words), one, one, words=words)
