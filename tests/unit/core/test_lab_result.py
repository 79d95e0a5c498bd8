"""Results: what they say of themselves, what a cheaper form saves, and where they are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ktui.core.lab.form import ListForm
from ktui.core.lab.form_prediction import CountRange, Figures
from ktui.core.lab.measured import Measured
from ktui.core.lab.result import LabResult, result_pages, winner_text
from ktui.core.lab.trial import Polling, trial_of
from ktui.tui.lab import saved
from ktui.tui.lab.saved import LabHistory


def measured(status: int = 200, route: str = "cache", **counters: int) -> Measured:
    return Measured(
        "/api/v1/pods",
        status=status,
        route=route,
        first_route=route,
        pages=1,
        seats=10,
        body_bytes=1_000,
        total_ms=4.0,
        counters=counters,
    )


def result(one: Measured | None = None, route: str = "cache", number: int = 1) -> LabResult:
    return LabResult(number, "fired", "/api/v1/pods", ListForm(), Figures(route), measured=one)


@pytest.mark.parametrize(
    ("predicted", "status", "route", "wrong"),
    [
        ("cache", 200, "cache", False),
        ("cache", 200, "etcd", True),
        ("cache", 200, "cache,etcd", True),
        ("none", 422, "", False),
        ("cache", 422, "", True),
        ("", 200, "etcd", False),
        ("cache", 200, "", False),  # a real apiserver that does not tell
    ],
)
def test_a_wrong_prediction_is_marked(predicted: str, status: int, route: str, wrong: bool) -> None:
    assert result(measured(status, route), predicted).surprises == (("route",) if wrong else ())


def test_a_fallback_that_the_rules_leave_open_is_no_surprise() -> None:
    one = replace(result(measured(route="cache,etcd")), predicted=Figures("cache", fallback=True))
    assert not one.surprises


def test_what_failed_says_why() -> None:
    failed = measured(status=410)
    failed.message = "too old"
    assert (result(failed).ok, result(failed).problem) == (False, "too old")
    broken = measured()
    broken.message = "the stream ended"
    assert not result(broken).ok, "a WATCH may fail behind its 200"
    assert result().problem == ""


def test_results_are_read_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "state" / "lab.ndjson"
    figures = Figures("cache", seats=CountRange(10, 10), fetched=CountRange(0, None))
    trial = trial_of([measured(etcd_keys=7)] * 5, [measured(etcd_keys=0)] * 5, Polling(2.0, 30.0))
    one = result(measured(fetched=7))
    one = replace(one, predicted=figures, baseline=3, at=5.0, server="kind", trial=trial)
    assert LabHistory(path).add(one) == ""
    (back,) = LabHistory(path).read()
    assert (back.predicted, back.measured, back.form) == (one.predicted, one.measured, one.form)
    assert back.trial == trial and trial.sentence == "saves etcd keys 7 → 0"
    assert (back.number, back.baseline, back.at, back.server) == (1, 3, 5.0, "kind")
    assert path.stat().st_mode & 0o777 == 0o600


def test_no_token_is_written(tmp_path: Path) -> None:
    token = "eyJ2IjoibWV0YSJ9"
    one = result(measured())
    assert one.measured is not None
    one.measured.continue_token = token
    one.measured.path = f"/api/v1/pods?limit=1&continue={token}&x=1"
    one = replace(one, path=one.measured.path, form=ListForm(continue_token=token))
    history = LabHistory(tmp_path / "lab")
    history.add(one)
    assert token not in history.path.read_text()
    assert history.read()[0].path == "/api/v1/pods?limit=1&continue=…&x=1"


def test_the_file_is_bounded_and_a_broken_line_costs_itself_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "KEPT", 5)
    history = LabHistory(tmp_path / "lab")
    for number in range(1, 24):
        history.add(result(measured(), number=number))
        assert len(history.path.read_bytes().splitlines()) <= 10
    with history.path.open("ab") as file:
        file.write(b'{"number": \n')
    assert [one.number for one in history.read()] == [20, 21, 22, 23]
    assert history.path.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = LabHistory(tmp_path / "file" / "lab")
    assert "not saved" in history.add(result(measured()))
    assert history.read() == []


def test_two_dashboards_number_their_results_apart(tmp_path: Path) -> None:
    one, other = LabHistory(tmp_path / "lab"), LabHistory(tmp_path / "lab")
    assert [one.next_number(0), other.next_number(0), one.next_number(1), other.next_number(2)] == [
        1,
        2,
        3,
        4,
    ]
    assert other.next_number(90) == 91, "above what its own history has"
    assert LabHistory(Path("/proc/nowhere/lab")).next_number(6) == 7


def variant(label: str, form: ListForm | None = None, items: int = 3, **counters: int) -> LabResult:
    one = measured(**{"cached_bytes": 17_900_000, "etcd_bytes": 0, "etcd_rpcs": 1, **counters})
    one.items = items
    return replace(result(one), label=label, form=form or ListForm())


@pytest.mark.parametrize(
    ("variants", "text"),
    [
        ([variant("rv=0", etcd_rpcs=0), variant("Exact")], "winner: rv=0 (etcd requests 1 → 0)"),
        (
            [variant("rv=0", etcd_rpcs=0), variant("Exact", etcd_rpcs=0)],
            "winner: rv=0, Exact (etcd requests 1 → 0)",
        ),
        ([variant("pages", etcd_rpcs=6)], "none of these is cheaper than unset"),
        ([variant("rv=0")], "none of these is cheaper than unset; rv=0 cost the same"),
        # Fewer objects, or another form of them, are not the same answer.
        (
            [variant("in shop", ListForm(namespace="shop"), cached_bytes=9)],
            "none of these is cheaper than unset",
        ),
        (
            [variant("metadata", ListForm(accept="metadata"), cached_bytes=9)],
            "none of these is cheaper than unset",
        ),
        ([variant("page", items=1, cached_bytes=9)], "none of these is cheaper than unset"),
        ([], ""),
    ],
)
def test_the_cheapest_of_several_variants_is_named(variants: list[LabResult], text: str) -> None:
    assert winner_text([variant("unset"), *variants]) == text


def test_without_an_answer_there_is_no_winner() -> None:
    assert winner_text([result(measured(status=429)), variant("rv=0")]) == ""


def test_a_verdict_is_handed_over_as_a_ticket() -> None:
    before = variant("original", cpu_ms=0)
    after = replace(
        variant("a|b `c` [d](e)\n", etcd_rpcs=0, cached_bytes=4_000),
        path="/api/v1/pods?fieldSelector=a|b`",
        trial=trial_of([before.measured] * 3, [variant("", etcd_rpcs=0, cached_bytes=4_000).measured] * 3),  # type: ignore[list-item]
        at=1_700_000_000.0,
    )
    pages = result_pages(after, None, before, "1.36")
    assert list(pages) == ["URL", "kubectl", "ticket", "curl", "result"]
    ticket = pages["ticket"]
    for line in (
        "### Cheaper read: a\\|b \\`c\\` \\[d\\](e)",
        "saves 99.98% of bytes processed, etcd requests 1 → 0.",
        "| request | `LIST /api/v1/pods` | `LIST /api/v1/pods?fieldSelector=a%7Cb%60` |",
        "| route | cache | cache |",
        "| bytes processed | 17.9 MB | 4.0 kB |",
        "on ktui's own server over etcd with the rules of Kubernetes 1.36: 3 runs of each in alternation",
    ):
        assert line in ticket, ticket
    assert ticket.startswith("### Cheaper read") and "\n|---|---:|---:|\n" in ticket


def test_what_is_no_verdict_is_a_result_first() -> None:
    assert list(result_pages(variant("unset"), None)) == ["result", "curl", "kubectl"]
