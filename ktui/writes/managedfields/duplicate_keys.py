"""Find items with duplicate keys in keyed lists, which make a configuration invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import Path, joined
from ktui.writes.managedfields.compare import item_key
from ktui.writes.managedfields.fieldset import step_text
from ktui.writes.managedfields.nodes import Keys, Node


def list_faults(value: Any, node: Node, path: Path | None = None) -> Iterator[str]:
    """Yield a sentence for each duplicate, with its path, in upstream's words."""
    if isinstance(value, dict) and not node.atomic:
        for name, member in value.items():
            yield from list_faults(member, node.member(name), (path, f".{name}"))
    elif isinstance(value, list) and (keys := node.keys(value)) is not None:
        yield from _item_faults(value, keys, node, path)


def _item_faults(items: list[Any], keys: Keys, node: Node, path: Path | None) -> Iterator[str]:
    seen: dict[str, int] = {}
    for at, item in enumerate(items):
        missing = [key for key in keys or () if item.get(key, node.key_default(key)) is None]
        if missing:
            yield (
                f"{joined(path)}: element {at}: associative list with keys has an element that omits key "
                f'field "{missing[0]}" (and doesn\'t have default value)'
            )
            continue
        key = item_key(keys, item, node)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:
            yield f"{joined(path)}: duplicate entries for key {step_text(key)}"
        yield from list_faults(item, node.item(), (path, step_text(key)))
