"""Tables as a real kube-apiserver 1.36 printed them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ktui.kube.requestinfo import parse_path, split_url
from ktui.kube.resources import BUILTIN
from ktui.kube.tables.table import table_columns, table_row_conditions
from tests.unit.kube.printed import printed_cells
from tests.unit.kube.recorded import cases, objects, served
from tools.fidelity.recordings import WIRE, lines

NOW = datetime.now(UTC)
_AGE = re.compile(r"^((\d+[ydhms])+|<unknown>)$|(?<= \()(\d+[ydhms])+(?= ago\)$)")


def _ageless(cells: list[Any]) -> list[Any]:
    return [_AGE.sub("<age>", c) if isinstance(c, str) else c for c in cells]


def test_cells_of_live_objects() -> None:
    live = {
        (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): obj
        for obj in lines(WIRE / "objects.jsonl.xz")
    }
    compared = 0
    for table in lines(WIRE / "tables.jsonl.xz"):
        key = table["resource"]
        group, _, version = key.split()[0].rpartition("/")
        resource = BUILTIN.find(group, version, key.split()[1])
        assert resource is not None
        columns = table_columns(resource)
        assert [c["name"] for c in columns] == table["columns"], key
        assert [c["name"] for c in columns if c["priority"]] == table["wide"], key
        for name, cells in table["rows"]:
            namespace, _, name = name.rpartition("/")
            printed = printed_cells(resource, live[resource.kind, namespace, name], NOW)
            assert _ageless(printed) == _ageless(cells), (key, name)
            compared += 1
    assert compared > 60


def test_cells_of_random_objects() -> None:
    """Objects of random members, also those that validation would refuse, put into etcd."""
    then, compared = datetime(2026, 11, 29, 9, 50, 30, tzinfo=UTC), 0
    for row in lines(WIRE / "random_tables.jsonl.xz"):
        group, _, version = row["resource"].split()[0].rpartition("/")
        resource = BUILTIN.find(group, version, row["resource"].split()[1])
        assert resource is not None
        printed = printed_cells(resource, row["object"], then)
        assert _ageless(printed) == _ageless(row["cells"]), row["object"]
        assert table_row_conditions(resource, row["object"]) == (row["conditions"] or [])
        compared += 1
    assert compared > 700


def _recorded_tables() -> Iterator[tuple[str, dict[str, Any]]]:
    for case in cases():
        body = case.get("body") or case.get("summary")
        if isinstance(body, dict) and body.get("kind") == "Table" and body.get("columnDefinitions"):
            yield case["request"]["path"], body


def test_columns_and_cells_of_the_recorded_cluster() -> None:
    stored: dict[tuple[str, str, str], list[tuple[str, dict[str, Any]]]] = {}
    for row in objects():
        info = parse_path(split_url(row["url"])[0])
        stored.setdefault((info.group, info.resource, info.name), []).append((info.namespace, row["body"]))
    compared = 0
    for path, table in _recorded_tables():
        info = parse_path(path)
        resource = served().find(info.group, info.version, info.resource)
        assert resource is not None
        assert table_columns(resource) == table["columnDefinitions"], path
        for row in table["rows"]:
            cells = row["cells"] if isinstance(row, dict) else row
            found = stored.get((info.group, info.resource, cells[0]), [])
            bodies = [body for namespace, body in found if info.namespace in ("", namespace)]
            printed = [_like(cells, printed_cells(resource, body, NOW)) for body in bodies]
            # Objects that the recorded requests made are not among the stored ones.
            assert not printed or cells in printed, (path, cells, printed)
            compared += bool(printed)
    assert compared > 1000


def _like(cells: list[Any], printed: list[Any]) -> list[Any]:
    """Ages left out where the recording leaves them out."""
    return [
        "<age>" if i < len(cells) and cells[i] == "<age>" else printed_cell
        for i, printed_cell in enumerate(printed)
    ]
