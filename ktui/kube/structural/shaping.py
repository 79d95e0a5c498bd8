"""Prune and default stored custom resources by their current schema, however old they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from ktui.kube.structural.conformance import Conformance
from ktui.kube.structural.defaulting import apply_defaults
from ktui.kube.structural.pruning import prune_object
from ktui.kube.structural.schema import Schema


class _Versioned(msgspec.Struct):
    apiVersion: str = ""


class Shaper:
    """Prunes and defaults documents by the schema of their version (`schemas` as in `Resource.schemas`)."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._checks: dict[str, Conformance] = {}
        self._only = next(iter(schemas)) if len(schemas) == 1 else ""
        self._versioned = msgspec.json.Decoder(_Versioned)

    def shaped(self, document: bytes) -> bytes:
        """Return the document pruned and defaulted; unchanged if it is not a JSON object."""
        version = self._only or self._version(document)
        schema = self._schemas.get(version)
        if schema is None:
            return document
        check = self._checks.get(version)
        if check is None:
            check = self._checks[version] = Conformance(schema)
        return document if check.holds(document) else _reshaped(document, schema)

    def _version(self, document: bytes) -> str:
        try:
            return self._versioned.decode(document).apiVersion.rpartition("/")[2]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""


def shape(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Prune an object and set its defaults, in place. Return the paths that the schema does not specify."""
    gone = prune_object(obj, schema)
    apply_defaults(obj, schema)
    return gone


def _reshaped(document: bytes, schema: Schema) -> bytes:
    try:
        # The standard library's decoder keeps integers of any size exact.
        obj = json.loads(document)
        if not isinstance(obj, dict):
            return document
        shape(obj, schema)
        return json.dumps(obj, separators=(",", ":"), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return document
