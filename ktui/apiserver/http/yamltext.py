"""JSON as YAML, as Go's library writes it: keys sorted, text that reads as another type in double quotes."""

from __future__ import annotations

import json
from typing import Any

import yaml  # type: ignore[import-untyped]


class _Dumper(yaml.CSafeDumper):  # type: ignore[misc]
    """Never makes anchors: each use of a value is written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_RESOLVER = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"


def _text(dumper: _Dumper, text: str) -> Any:
    style = None
    if "\n" in text:
        style = "|"
    elif _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT:
        style = '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


_Dumper.add_representer(str, _text)


def yaml_of(document: bytes) -> bytes:
    """A JSON document as YAML."""
    text: str = yaml.dump(json.loads(document), Dumper=_Dumper, allow_unicode=True, default_flow_style=False)
    return text.encode("utf-8", "replace")
