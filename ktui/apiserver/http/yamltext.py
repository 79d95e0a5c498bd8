"""YAML: written as Go's library does, and read from strangers.

Keys are sorted, text that would read as another type stands in double quotes.
"""

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


def read_yaml(body: bytes) -> Any:
    """The document, only of types that JSON has; ValueError says what is wrong.

    Aliases are refused: a few lines of them unfold to more than any memory holds.
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(body, Loader=_Loader)):
            raise ValueError("yaml: aliases are not accepted")
        return yaml.load(body, Loader=_Loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"yaml: {' '.join(str(error).split())}") from None


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """Times stay text, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
