"""Find duplicates in lists of custom resources with x-kubernetes-list-type set or map."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ktui.kube.field_paths import Path, joined
from ktui.kube.fielderrors import FieldError
from ktui.kube.structural.schema import Schema, additional, items


def duplicates(value: Any, schema: Schema | None, path: Path | None = None) -> Iterator[FieldError]:
    """Yield an error for each duplicate value of a set, or key of a keyed list."""
    if schema is None:
        return
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = additional(schema)[1]
        for name, member in value.items():
            if name in properties:
                yield from duplicates(member, properties[name], (path, f".{name}"))
            else:
                yield from duplicates(member, rest, (path, f"[{name}]"))
    elif isinstance(value, list):
        yield from _of_list(value, schema, path)
        for at, item in enumerate(value):
            yield from duplicates(item, items(schema), (path, f"[{at}]"))


def _of_list(value: list[Any], schema: Schema, path: Path | None) -> Iterator[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    keys = schema.get("x-kubernetes-list-map-keys") or []
    seen: dict[str, int] = {}
    for at, item in enumerate(value):
        shown = item
        if kind == "map":
            shown = {key: item[key] for key in keys if key in item} if isinstance(item, dict) else {}
        text = json.dumps(shown, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield FieldError(
                joined((path, f"[{at}]")).removeprefix("."), "FieldValueDuplicate", f"Duplicate value: {text}"
            )
