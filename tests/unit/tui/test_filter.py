"""The grammar behind `/`."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from ktui.tui.model.filter import FilterError, parse_filter


class Row(NamedTuple):
    route: str
    ms: float
    client: str


COLUMNS = {"route": lambda r: r.route, "ms": lambda r: r.ms, "client": lambda r: r.client}
ROWS = (Row("E etcd", 38.0, "cilium-agent"), Row("C cache", 0.4, "kubelet"), Row("E etcd", 6.0, "kubectl"))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", (0, 1, 2)),
        ("route:E", (0, 2)),
        ("route:etc", (0, 2)),
        ("ms>10", (0,)),
        ("ms<=6", (1, 2)),
        ("client~cil", (0,)),
        ("client=kubelet", (1,)),
        ("client!=kubelet", (0, 2)),
        ("!route:E", (1,)),
        ("KUBE", (1, 2)),
        ("route:E ms>10 client~cilium", (0,)),
        ("ms>1k", ()),
        ("'E etcd' kube", (2,)),
    ],
)
def test_rows_kept(text: str, kept: tuple[int, ...]) -> None:
    chosen = parse_filter(text, COLUMNS)
    assert tuple(index for index, row in enumerate(ROWS) if chosen.matches(row)) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [("foo:E", "no column 'foo': route ms client"), ("ms>fast", "a number"), ("'open", "quote")],
)
def test_what_makes_no_sense_says_why(text: str, says: str) -> None:
    with pytest.raises(FilterError, match=says):
        parse_filter(text, COLUMNS)


def test_a_path_is_a_word() -> None:
    rows = [Row("E", 1.0, "/api/v1/pods?limit=500")]
    assert parse_filter("/api/v1/pods?limit=500", COLUMNS).matches(rows[0])
