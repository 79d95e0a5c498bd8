"""Read names, labels and field-selector fields of values stored as JSON, by a typed, partial decode."""

from typing import Any

import msgspec

from ktui.wire.scanned import Scanned
from ktui.wire.selectable import Path, Selectable, as_selected, combined

_ALWAYS: tuple[Path, ...] = tuple(("metadata", name) for name in ("name", "namespace", "uid", "labels"))


class JsonScan:
    """Decodes only the wanted members and their parents; msgspec skips the others."""

    def __init__(self, selectable: Selectable) -> None:
        self._selectable = selectable
        self._paths = selectable.all_paths()
        tree: dict[str, Any] = {}
        for path in (*_ALWAYS, *self._paths):
            node = tree
            for part in path[:-1]:
                node = node.setdefault(part, {})
            node.setdefault(path[-1], {})
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_struct("Object", tree))

    def scan(self, raw: bytes) -> Scanned:
        """Scan a document; raise ValueError (msgspec's) if it is not a JSON object."""
        try:
            found = self._decoder.decode(raw)
        except msgspec.ValidationError:
            found = msgspec.json.decode(raw)  # a value on the path is not an object: read the whole document
        labels = _at(found, ("metadata", "labels"))
        values = {path: as_selected(_at(found, path)) for path in self._paths}
        return Scanned(
            as_selected(_at(found, ("metadata", "namespace"))),
            as_selected(_at(found, ("metadata", "name"))),
            as_selected(_at(found, ("metadata", "uid"))),
            {key: as_selected(value) for key, value in labels.items()} if isinstance(labels, dict) else {},
            combined(values, self._selectable),
        )


def _struct(name: str, tree: dict[str, Any]) -> type:
    members = []
    for at, below in enumerate(tree.values()):
        kind = _struct(f"{name}{at}", below) | None if below else Any
        members.append((f"m{at}", kind, None))
    rename = {f"m{at}": json_name for at, json_name in enumerate(tree)}
    return msgspec.defstruct(name, members, rename=rename)


def _at(found: Any, path: Path) -> Any:
    for part in path:
        if isinstance(found, msgspec.Struct):
            names = found.__struct_encode_fields__
            found = getattr(found, found.__struct_fields__[names.index(part)]) if part in names else None
        elif isinstance(found, dict):
            found = found.get(part)
        else:
            return None
    return found
