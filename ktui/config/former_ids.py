"""Former ids of keys, tables and columns, which a config file may still contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KEYS = {
    "overview.costliest": "overview.ranking",
    "lab.fire": "lab.send",
    "lab.race": "lab.compare",
    "lab.undercut": "lab.cheaper",
    "lab.prove": "lab.check",
    "lab.aim": "lab.target",
    "form.fire": "form.send",
    "choice.fire": "choice.send",
    "aim.close": "target.close",
}
TABLES = {"cache.ring": "cache.events"}
COLUMNS = {"lab.results": {"foreseen": "predicted"}}


def current_keys(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return keys by current binding id; an entry with the current id takes precedence."""
    return {KEYS.get(id_, id_): keys for id_, keys in keymap.items() if id_ in KEYS} | {
        id_: keys for id_, keys in keymap.items() if id_ not in KEYS
    }


def current_columns(chosen: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return columns by current table id, with their current ids."""
    found: dict[str, tuple[str, ...]] = {}
    for table, ids in chosen.items():
        today = TABLES.get(table, table)
        if today == table or today not in chosen:
            renamed = COLUMNS.get(today, {})
            found[today] = tuple(renamed.get(id_, id_) for id_ in ids)
    return found


def former_of(id_: str) -> str:
    """Return the former id of a key or table; "" if it has none."""
    return next((old for old, new in (KEYS | TABLES).items() if new == id_), "")
