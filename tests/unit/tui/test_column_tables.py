"""Every column of every table says what it is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ktui.core.table.columns import Column
from ktui.tui.audit.group_columns import groups
from ktui.tui.audit.summary import SLOW
from ktui.tui.cache.cache_columns import CACHES, EVENTS, OBJECTS
from ktui.tui.etcd.history_pane import KeyRevisions, revision_columns
from ktui.tui.etcd.keys_pane import key_columns
from ktui.tui.etcd.tree_pane import PREFIXES
from ktui.tui.lab.lab_columns import columns as lab_columns
from ktui.tui.overview.holdings import CACHES as OVERVIEW_CACHES
from ktui.tui.overview.holdings import PREFIXES as OVERVIEW_PREFIXES
from ktui.tui.requests.request_columns import FULL, SHORT
from ktui.tui.versions.screen import columns as version_columns
from ktui.tui.watches.watch_columns import WATCHES

TABLES: dict[str, Sequence[Column[object]]] = {
    "requests, short": SHORT,
    "requests": FULL,
    "overview, caches": OVERVIEW_CACHES,
    "overview, prefixes": OVERVIEW_PREFIXES,
    "caches": CACHES,
    "objects": OBJECTS,
    "events": EVENTS,
    "watches": WATCHES,
    "prefixes": PREFIXES,
    "keys": key_columns(lambda: ""),
    "revisions": revision_columns(lambda: KeyRevisions("")),
    "lab": lab_columns(120),
    "versions": version_columns(grouped=True, limits=True),
    "audit": groups(estimates=True),
    "audit without sizes": groups(estimates=False),
    "slow": SLOW,
}  # type: ignore[dict-item]


@pytest.mark.parametrize("name", TABLES)
def test_a_column_says_what_it_is_and_has_a_name_of_its_own(name: str) -> None:
    columns = TABLES[name]
    assert [column.id for column in columns if not column.about] == []
    ids = [column.id for column in columns]
    assert len(set(ids)) == len(ids)
    assert all(each.islower() and each.isidentifier() for each in ids), "so that a filter can name them"


@pytest.mark.parametrize("name", TABLES)
def test_numbers_stand_at_the_right_and_the_greatest_come_first(name: str) -> None:
    for column in TABLES[name]:
        if column.unit in ("B", "ms"):
            assert column.align == "right", column.id
