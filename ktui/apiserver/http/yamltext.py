"""Convert JSON to YAML as Go's library does: sorted keys, and quotes where text reads as another type."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from ktui.kube.golang.formatting import general


class _Dumper(yaml.CSafeDumper):
    """A dumper that never writes anchors: repeated values are written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"
_TEXT_TO_GO = frozenset(("=", "<<"))  # special to PyYAML only
_GO_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?0o[0-7]+")
_INDICATORS = frozenset("*&!")  # text that PyYAML takes for a value of its own when it stands alone
_END = "\n...\n"
_LETTERS = frozenset("yYnN")  # booleans of YAML 1.1 that PyYAML reads as text


def _text(dumper: _Dumper, text: str) -> Any:
    style = None
    if text in _TEXT_TO_GO:
        return dumper.represent_scalar(_tag(text), text)
    if "\n" in text:
        style = "|"
    elif text in _INDICATORS:
        style = "'"
    elif _tag(text) != _TEXT or text in _LETTERS or _GO_NUMBER.fullmatch(text):
        style = '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


def _number(dumper: _Dumper, value: float) -> Any:
    text = general(value)
    # The tag that the text resolves to (2 is an int, 1e+30 text): then no tag is written.
    return dumper.represent_scalar(_tag(text), text)


def _tag(text: str) -> str:
    found: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    return found


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _number)


def yaml_of(document: bytes) -> bytes:
    """Return a JSON document as YAML."""
    text: str = yaml.dump(
        json.loads(document, parse_int=_whole), Dumper=_Dumper, allow_unicode=True, default_flow_style=False
    )
    if text.endswith(_END):  # libyaml ends text with trailing empty lines this way, Go's library does not
        text = text.removesuffix(_END) + "\n"
    return text.encode("utf-8", "replace")


def _whole(digits: str) -> int | float:
    """Parse an integer; like Go's library, one beyond 64 bits becomes a float."""
    value = int(digits)
    return value if -(1 << 63) <= value < 1 << 64 else float(digits)
