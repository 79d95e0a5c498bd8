"""`ktui list`: misuse is said at once, and the verdict comes first."""

from pathlib import Path

import pytest

from ktui.cli.list import print_listing
from ktui.cli.list_request import Listing, TriedVariant, _limited
from ktui.cli.main import main
from ktui.client.measure import ApiRequest
from ktui.core.lab.trial import trial_of
from tests.unit.cli.measured import measured, runs

PATH = "/api/v1/pods?fieldSelector=spec.nodeName=n1"
EXPENSIVE = {
    "fetched": 1_000,
    "evaluated": 1_000,
    "etcd_rpcs": 2,
    "etcd_keys": 1_000,
    "etcd_bytes": 5_000_000,
}
CHEAP = {"fetched": 10, "evaluated": 10, "etcd_rpcs": 0, "etcd_keys": 0, "etcd_bytes": 0}

ITEM_3 = {
    "status", "route", "reason_id", "reason", "items", "rv", "pages", "etcd", "objects", "bytes", "ms",
    "seats", "amplification", "predicted", "cheaper",
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["pods"], "not an API path"),
        (["/api/v1/pods?watch=true"], "a WATCH does not end"),
        (["/api/v1/pods", "--try", "--repeat", "4"], "--try needs --repeat 5 or more"),
        (["/api/v1/pods", "--attach", "http://127.0.0.1:1", "--context", "c"], "exclude each other"),
        (["/api/v1/pods", "--estimate", "--try"], "--estimate sends nothing: leave out"),
        (["/api/v1/pods", "--estimate", "--otlp"], "--estimate sends nothing: leave out"),
    ],
)
def test_misuse(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", *words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/v1/podz", "v1 has no resource 'podz': did you mean 'pods'?"),
        ("/api/v1/pods?limit=-1", "limit=-1: write a positive limit, or none"),
        ("/api/v1/pods?limit=ten", "invalid syntax"),
        ("/apis/example.com/v1/things", "the demo cluster has no things of example.com/v1"),
    ],
)
def test_what_a_demo_cluster_would_refuse_starts_none(
    path: str, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # no other server is found
    assert main(["list", path]) == 2
    said = capsys.readouterr().err
    assert says in said and "starting" not in said


def test_no_server_listens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "/api/v1/pods", "--attach", "http://127.0.0.1:1"]) == 3
    assert "no server answers at http://127.0.0.1:1 (connection refused)" in capsys.readouterr().err


def listing(tried: bool = True) -> Listing:
    original = runs(measured(PATH, **EXPENSIVE))
    assert original.predicted.explanation is not None
    advice = original.predicted.explanation.advice[0]
    variant = TriedVariant(advice, ApiRequest(advice.path))
    if tried:
        variant.measured = measured(advice.path, "cache", ms=2.0, **CHEAP)
        variant.trial = trial_of([original.measured] * 5, [variant.measured] * 5)
    return Listing(original, [variant])


def test_the_document_has_the_keys_that_programs_rely_on() -> None:
    document = listing().document()
    assert set(document) >= ITEM_3
    assert set(document["etcd"]) == {"rpcs", "keys", "bytes"}
    assert set(document["objects"]) == {"fetched", "evaluated", "matched", "returned", "decoded"}
    assert set(document["bytes"]) >= {"decoded", "encoded", "sent"}
    assert document["predicted"]["route"] == "etcd"
    assert document["predicted"]["agrees"] is True
    cheaper = document["cheaper"][0]
    assert set(cheaper) >= {"path", "why", "measured"}
    trial = cheaper["trial"]
    assert (trial["runs"], trial["verdict"]) == (5, "saves")
    assert trial["figures"]["etcd_keys"] == {
        "original": {"median": 1_000, "low": 1_000, "high": 1_000},
        "variant": {"median": 0, "low": 0, "high": 0},
        "difference": "less",
    }
    assert trial["client_ms"]["original"]["median"] == 80.0
    untried = listing(tried=False).document()["cheaper"][0]
    assert (untried["measured"], untried["trial"]) == (None, None)


def test_the_verdict_first_then_the_measured_saving(capsys: pytest.CaptureFixture[str]) -> None:
    print_listing(listing())
    said = capsys.readouterr().out
    assert said.startswith("E etcd because no resourceVersion")
    assert "1,000 scanned, 1,000 evaluated, 10 returned" in said
    assert "= E etcd" in said
    flat = " ".join(said.split())
    assert "saves 99% of bytes processed, etcd keys 1,000 → 0, etcd bytes 5.0 MB → 0 B" in flat
    assert "client's time 80 ms 2.0 ms not judged" in flat
    assert "C cache; medians (least–most) of 5 runs each, in alternation" in flat


def test_a_wrong_prediction_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    result = Listing(runs(measured(PATH, "cache", **CHEAP)))
    assert result.document()["predicted"]["agrees"] is False
    print_listing(result)
    assert "≠ E etcd" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "agrees"), [(200, None), (404, None), (504, None), (410, False), (400, False)]
)
def test_an_answer_that_does_not_say_from_where_is_not_held_against_the_prediction(
    status: int, agrees: bool | None
) -> None:
    """A real kube-apiserver counts no LIST that waited for its revision in vain."""
    assert runs(measured(PATH, "", status=status)).agrees is agrees


def test_a_refusal_is_data_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_listing(Listing(runs(measured(PATH, "", status=404))))
    said = capsys.readouterr().out
    assert said.startswith("! 404 no [bold]such[/bold] \\x1b[31mthing")
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("path", "limited"),
    [("/api/v1/pods?limit=5", True), ("/api/v1/pods", False), ("/api/v1/pods?limit=x", False)],
)
def test_pages(path: str, limited: bool) -> None:
    assert _limited(path) is limited
