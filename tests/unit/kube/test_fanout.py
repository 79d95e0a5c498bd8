"""Copies and encodings of one event, by version."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ktui.kube.fanout import (
    DELETED_HISTORY,
    ERAS,
    ChangeRecipients,
    DeletedObject,
    EventWork,
    fan_out,
)
from ktui.kube.gates import NEWEST_MINOR, OLDEST_MINOR
from ktui.kube.versions import behaviour_of


def made(version: str, audience: ChangeRecipients, **gates: bool) -> EventWork:
    return fan_out(audience, behaviour_of(version, gates))


MANY = {"concerned": 100, "plain": 100}
TABLES = {"concerned": 10, "plain": 5, "tables": 5}
LEAVING = {"concerned": 10, "plain": 8, "leaving": 2}
ALONE = {"concerned": 2, "plain": 2}


@pytest.mark.parametrize(
    ("change", "audience", "copies", "encodings"),
    [
        # One copy to wrap up to 1.23; one for each encoding; DELETED is copied to get its RV.
        ("ADDED", MANY, (2, 2, 1, 1), (1, 1, 1, 1)),
        ("MODIFIED", MANY, (2, 2, 1, 1), (1, 1, 1, 1)),
        ("DELETED", MANY, (2, 2, 2, 2), (1, 1, 1, 1)),
        ("MODIFIED", {**MANY, "plain_forms": 3}, (4, 4, 3, 3), (3, 3, 3, 3)),
        # Each Table by itself up to 1.28.
        ("ADDED", TABLES, (7, 7, 6, 2), (6, 6, 6, 2)),
        # The previous object is never wrapped.
        ("MODIFIED", LEAVING, (4, 4, 3, 3), (3, 3, 3, 3)),
        # Up to 1.23 fewer than three watchers share nothing.
        ("ADDED", ALONE, (2, 2, 1, 1), (2, 2, 1, 1)),
        ("DELETED", ALONE, (2, 2, 2, 2), (2, 2, 1, 1)),
        # No watcher gets it: up to 1.23 it was wrapped all the same.
        ("MODIFIED", {"concerned": 3}, (1, 1, 0, 0), (0, 0, 0, 0)),
        ("MODIFIED", {"concerned": 2}, (0, 0, 0, 0), (0, 0, 0, 0)),
    ],
)
def test_copies_and_encodings(
    change: str, audience: dict[str, int], copies: tuple[int, ...], encodings: tuple[int, ...]
) -> None:
    of_each = [made(f"1.{last}", ChangeRecipients(change, **audience)) for _, last in ERAS]
    assert tuple(one.copies for one in of_each) == copies
    assert tuple(one.encodings for one in of_each) == encodings


def test_three_concerned_watchers_are_wrapped_for() -> None:
    assert not made("1.23", ChangeRecipients("ADDED", 2, plain=2)).wrapped
    assert made("1.23", ChangeRecipients("ADDED", 3, plain=1)).wrapped
    assert made("1.24", ChangeRecipients("ADDED", 1, plain=1)).wrapped


def test_self_links_were_written_up_to_1_19_and_where_the_gate_says_so() -> None:
    many = ChangeRecipients("ADDED", concerned=10, plain=6, tables=2)
    assert made("1.19", many).links == 3, "once into the shared object, once into each Table's copy"
    assert made("1.19", ChangeRecipients("ADDED", 2, plain=2)).links == 2
    assert made("1.20", many).links == 0
    assert made("1.20", many, RemoveSelfLink=False).links == 3


audiences = st.builds(
    lambda change, counts, out: ChangeRecipients(change, sum(counts) + out, *counts),
    st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
    st.tuples(*[st.integers(0, 50)] * 3),
    st.integers(0, 50),
)


@given(audiences)
def test_within_an_era_nothing_changes(audience: ChangeRecipients) -> None:
    for first, last in ERAS:
        assert len({made(f"1.{minor}", audience) for minor in range(first, last + 1)}) == 1


@given(audiences)
def test_for_three_watchers_and_more_it_has_never_become_more_expensive(audience: ChangeRecipients) -> None:
    assume(audience.concerned >= 3)
    for before, after in pairwise(made(f"1.{last}", audience) for _, last in ERAS):
        assert after.copies <= before.copies and after.encodings <= before.encodings


def test_the_eras_cover_all_minors() -> None:
    covered = [minor for first, last in ERAS for minor in range(first, last + 1)]
    assert covered == list(range(OLDEST_MINOR, NEWEST_MINOR + 1))


def test_the_history_names_the_releases_and_what_they_sent() -> None:
    assert [(era.releases, era.carries) for era in DELETED_HISTORY] == [
        (("≤ 1.6",), DeletedObject.CURRENT),
        (("1.7.0–12", "1.8.0–7", "1.9.0–2"), DeletedObject.OLD_RV),
        (("1.7.13", "1.8.8", "1.9.3", "≥ 1.10"), DeletedObject.EVENT_RV),
    ]
