"""YAML: written as Go's library does, and read from strangers.

Keys are sorted, text that would read as another type stands in double quotes.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from ktui.kube.golang.numbers import general


class _Dumper(yaml.CSafeDumper):
    """Never makes anchors: each use of a value is written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"
_TEXT_TO_GO = frozenset(("=", "<<"))  # special to this library only
_GO_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?0o[0-7]+")
_END = "\n...\n"
_LETTERS = frozenset("yYnN")  # truth values of YAML 1.1 that this library reads as text


def _text(dumper: _Dumper, text: str) -> Any:
    style = None
    if text in _TEXT_TO_GO:
        return dumper.represent_scalar(_tag(text), text)
    if "\n" in text:
        style = "|"
    elif _tag(text) != _TEXT or text in _LETTERS or _GO_NUMBER.fullmatch(text):
        style = '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


def _number(dumper: _Dumper, value: float) -> Any:
    text = general(value)
    # The tag that the text resolves to by itself (2 is an int, 1e+30 text): then none is written.
    return dumper.represent_scalar(_tag(text), text)


def _tag(text: str) -> str:
    found: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    return found


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _number)


def yaml_of(document: bytes) -> bytes:
    """A JSON document as YAML."""
    text: str = yaml.dump(
        json.loads(document, parse_int=_whole), Dumper=_Dumper, allow_unicode=True, default_flow_style=False
    )
    if text.endswith(_END):  # libyaml marks the end where a text ends with empty lines, Go's does not
        text = text.removesuffix(_END) + "\n"
    return text.encode("utf-8", "replace")


def _whole(digits: str) -> int | float:
    """A number without a fraction: Go's library reads what no 64 bits can hold as a float."""
    value = int(digits)
    return value if -(1 << 63) <= value < 1 << 64 else float(digits)


def read_yaml(body: bytes) -> Any:
    """The document, only of types that JSON has; ValueError says what is wrong.

    Aliases are refused: a few lines of them unfold to more than any memory holds.
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(body, Loader=_Loader)):
            raise ValueError("yaml: aliases are not accepted")
        return yaml.load(body, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"yaml: {_place(error)}{error.problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"yaml: {' '.join(str(error).split())}") from None


def _place(error: yaml.MarkedYAMLError) -> str:
    """Go's library counts lines from 0, but for its scanner, and does not name the first."""
    problem, context = (mark.line if mark else 0 for mark in (error.problem_mark, error.context_mark))
    line = problem + isinstance(error, yaml.scanner.ScannerError) if problem else context
    return f"line {line}: " if line else ""


class _Loader(yaml.CSafeLoader):
    """Times stay text, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
