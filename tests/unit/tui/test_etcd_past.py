"""Revisions of a key: which are compared, and what differs."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.contract.etcd_documents import FieldSize, KeyDetail, KeyHistory, StoredKey
from ktui.tui.etcd.history_pane import KeyRevisions, difference
from ktui.tui.etcd.value_pane import heaviest, size_lines


def past(complete: bool = True) -> KeyRevisions:
    made = KeyRevisions("/k")
    rows = [StoredKey("/k", mod_revision=at, bytes=size) for at, size in ((30, 90), (20, 100), (10, 40))]
    made.put(KeyHistory("/k", rows, complete))
    return made


def pod(revision: int, **spec: Any) -> KeyDetail:
    metadata = {"name": "p", "resourceVersion": str(revision)}
    return KeyDetail("/k", mod_revision=revision, json={"metadata": metadata, "spec": spec})


def text(lines: list[Any]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def test_a_revision_is_compared_with_the_one_before_or_with_the_marked_one() -> None:
    looked = past()
    assert [looked.pair(at) for at in (30, 20, 10)] == [(20, 30), (10, 20), (0, 10)]
    looked.mark(20)
    assert [looked.pair(at) for at in (30, 20, 10)] == [(20, 30), (10, 20), (10, 20)]
    looked.mark(20)
    assert looked.marked == 0


def test_each_revision_is_read_once_and_again_when_revealed() -> None:
    looked = past()
    assert looked.missing(30) == [20, 30]
    looked.keep(pod(30))
    assert looked.missing(30) == [20] and looked.missing(10) == [10]
    looked.reveal = True
    assert looked.missing(30) == [20, 30]


@pytest.mark.parametrize(("complete", "oldest"), [(True, 40), (False, None)])
def test_growth(complete: bool, oldest: int | None) -> None:
    looked = past(complete)
    assert [looked.grown(row) for row in looked.revisions] == [-10, 60, oldest]


def test_a_row_of_the_key_before_has_no_growth() -> None:
    """It may be painted once more when another key is opened, or none."""
    assert [KeyRevisions("/other").grown(row) for row in past().revisions] == [None] * 3


def test_the_difference_has_signs_and_no_resource_version() -> None:
    change = difference(pod(1, nodeName="a", other="b"), pod(2, nodeName="c", other="b"))
    assert text(change)[1:] == [
        "  metadata:",
        "    name: p",
        "  spec:",
        "−   nodeName: a",
        "+   nodeName: c",
        "    other: b",
    ]
    assert difference(pod(1, a=1), pod(2, a=1)) == []


def test_a_key_that_was_not_there_is_all_new() -> None:
    change = difference(None, pod(1, a=1))
    assert all(line.startswith("+ ") for line in text(change)[1:])


def test_values_that_are_no_objects_differ_as_text_or_bytes() -> None:
    one, two = (KeyDetail("/k", text=f"same\n{word}") for word in ("old", "new"))
    assert text(difference(one, two))[1:] == ["  same", "− old", "+ new"]
    one, two = (KeyDetail("/k", hex=raw, raw_bytes=1) for raw in ("00", "01"))
    assert [line[:14] for line in text(difference(one, two))[1:]] == [
        "− 00000000  00",
        "+ 00000000  01",
    ]


def test_a_history_may_lack_bytes() -> None:
    page = KeyHistory("/k", [StoredKey("/k", mod_revision=3, bytes=None)])
    assert page.complete and page.revisions[0].bytes is None


def test_fields_by_size() -> None:
    sizes = [
        FieldSize("metadata", 60, 0.6),
        FieldSize("metadata.managedFields", 41, 0.41),
        FieldSize("spec", 40, 0.4),
    ]
    told = text(size_lines(sizes, 100))
    assert [line.split() for line in told] == [
        ["60%", "━━━━━", "60", "metadata"],
        ["41%", "━━━╸", "41", "managedFields"],
        ["40%", "━━━", "40", "spec"],
        ["100", "stored"],
    ]
    largest = heaviest(sizes)
    assert largest is not None and largest.path == "metadata.managedFields"
    assert heaviest(sizes[2:]) is None


def test_a_tiny_share_is_not_nothing() -> None:
    told = text(size_lines([FieldSize("metadata", 99_990, 0.9999), FieldSize("spec", 10, 0.0001)], 100_000))
    assert [told[0].split()[0], told[1].split()[0]] == [">99%", "<1%"]
