"""The Lab fires, races, pages, undercuts and compares, here and elsewhere; and what it keeps of that."""

from __future__ import annotations

from dataclasses import replace as replace_field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from ktui.client import large_lists
from ktui.client.api import TimedResponse
from ktui.contract.events import EtcdProgress
from ktui.core.lab.trial import Verdict
from ktui.core.references import CompareRef, Place, Selection
from ktui.kube.selectors.shards import shard
from ktui.traces.receiver import OtlpReceiver
from ktui.traces.spans import TracedRequest
from ktui.tui.dialogs.text import PagesScreen, TextScreen
from ktui.tui.lab.saved import LabHistory
from ktui.tui.lab.screen import LabScreen

from .asking import until, until_shown
from .lab import (
    choose_kind,
    fill,
    lab_app,
    old_app,
    open_lab,
    settled,
    try_cheaper,
    two_contexts,
)
from .lab_server import LabServer, proof
from .still import NORMAL, WIDE, shown

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("lab")]

# What it fires.


async def test_a_fired_list_is_measured_beside_its_prediction() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods"]
        result = screen.lab.runner.results[0]
        assert (result.predicted.route, result.route, result.surprises) == ("cache", "cache", ())
        compared = {each.name: (each.predicted, each.verdict, each.measured) for each in result.comparisons}
        assert compared == {
            "route": ("C", "=", "C"),
            "seats": ("8", "=", "8"),
            "scanned": ("3,000", "=", "3,000"),
            "etcd reads": ("1", "=", "1"),
        }
        await until_shown(
            pilot,
            "= all 4",
            "original",
            "27.0M",
            "any version is accepted",
            "route C = C · seats 8 = 8 · scanned 3,000 = 3,000 · etcd reads 1 = 1",
            "17.9 MB processed, 0.663 for each byte returned",
            "2.2 MB on the wire (gzip)",
        )


async def test_a_wrong_prediction_is_marked() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        server.from_etcd = True
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert screen.lab.runner.results[0].surprises
        await until_shown(pilot, "C≠E", "≠ route", "route C ≠ E")


async def test_a_race_asks_in_eight_ways_one_after_the_other() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await until(pilot, lambda: bool(screen.lab.namespaces))
        await pilot.press("r")
        await until(pilot, lambda: settled(screen, 8))
        results = screen.lab.runner.results
        assert [(result.label, result.measured and result.measured.pages) for result in results] == [
            ("unset", 1),
            ("rv=0", 1),
            ("pages of 500", 6),
            ("NotOlderThan", 1),
            ("Exact", 1),
            ("WatchList", 1),
            ("in team-00", 1),
            ("metadata only", 1),
        ]
        measured = [result.measured for result in results if result.measured is not None]
        assert [one.items for one in measured] == [3_000] * 6 + [250, 3_000]
        assert not any(result.surprises for result in results), [result.comparisons for result in results]
        assert "sendInitialEvents=true" in server.fired[10]


async def test_a_compares_with_a_cheaper_variant_in_alternation() -> None:
    server = LabServer()
    app = old_app(server)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await try_cheaper(pilot)
        assert server.fired == ["/api/v1/pods", "/api/v1/pods?resourceVersion=0"] * 4
        trial = screen.lab.runner.results[1].trial
        assert trial is not None and screen.lab.runner.results[1].baseline == 1
        assert (trial.runs, trial.verdict) == (3, Verdict.SAVES)
        await until_shown(
            pilot,
            "E→E",
            "C→C",
            "add resourceVersion=0",
            "saves CPU 42 → 8.4 ms, memory held 18.2 MB → 286 kB, etcd keys 3,000 → 0",
            "3 runs each in alternation, medians · client's time 60 → 12 ms: not judged",
        )
        await pilot.press("up", "a")
        await until(pilot, lambda: settled(screen, 3))
        assert screen.lab.runner.results[2].measured.pages == 6  # type: ignore[union-attr]
        await pilot.press("home", "a")
        await until(pilot, lambda: settled(screen, 4))
        assert screen.lab.runner.results[3].form.accept == "metadata"
        await until_shown(pilot, "metadata only", "saves 88% of bytes sent")
        await pilot.press("home", "a")
        await until(pilot, lambda: settled(screen, 5))
        assert screen.lab.runner.results[4].form.accept == "protobuf"
        await until_shown(pilot, "in protobuf", "no difference (against #1)")
        await pilot.press("home", "a")
        await until_shown(pilot, "no untried cheaper variant of #1 left")


async def test_a_misspelt_parameter_is_kept_sent_and_corrected() -> None:
    server = LabServer()
    app = old_app(server)
    path = "/api/v1/pods?filedSelector=spec.nodeName=node-01&pretty=1"
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        app.go_to(Place("lab", CompareRef(Selection("LIST", path, "a test"))))
        await until(pilot, lambda: settled(screen, 2))
        original, variant = (urlsplit(sent).query for sent in server.fired[:2])
        assert original == "filedSelector=spec.nodeName=node-01&pretty=1"
        assert variant == "fieldSelector=spec.nodeName=node-01&pretty=1"
        assert screen.form_pane.fields.values["others"] == original
        await until_shown(pilot, "GET /api/v1/pods?filedSelector=spec.nodeName=node-01&pretty=1")


async def test_the_way_back_to_a_comparison_does_not_send_it_again() -> None:
    server = LabServer()
    app = old_app(server)
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("1")
        app.go_to(Place("lab", CompareRef(Selection("LIST", "/api/v1/pods", "a test"))))
        await until(pilot, lambda: settled(screen, 2))
        sent = len(server.fired)
        await pilot.press("left_square_bracket", "right_square_bracket")
        await until(pilot, lambda: app.screen is screen)
        await pilot.pause()
        assert len(server.fired) == sent and len(screen.lab.runner.results) == 2


async def test_shards_are_measured_as_pages_and_as_a_streaming_list() -> None:
    """The shard of the form on both sides: pages beside a WatchList, and the whole collection."""
    server = LabServer()
    app = lab_app(server)
    assert app.state.server is not None
    gates = {"ShardedListAndWatch": True}
    app.feed([replace(app.state.server, kube_version="1.37", feature_gates=gates)])
    app.intake.fold()
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        await until_shown(pilot, "shardSelector", "1/2: a half")
        await fill(pilot, shard="2/2")
        await pilot.press("r")
        await until(pilot, lambda: settled(screen, 8))
        sent = {each.label: unquote(urlsplit(each.path).query) for each in screen.lab.runner.results}
        half = f"shardSelector={shard(1, 2)}"
        assert all((half in query) is (label != "no shard") for label, query in sent.items()), sent
        assert {"pages of 500", "no shard"} < sent.keys()
        assert "sendInitialEvents=true" in sent["WatchList"]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("1.35", "1.35 has no shardSelector: it came with 1.36, gate ShardedListAndWatch"),
        ("1.37", "the gate ShardedListAndWatch (alpha) is off"),
    ],
)
async def test_a_shard_that_the_server_would_ignore_is_not_sent(version: str, why: str) -> None:
    server = LabServer()
    app = lab_app(server)
    assert app.state.server is not None
    app.feed([replace(app.state.server, kube_version=version)])
    app.intake.fold()
    async with app.run_test(size=WIDE) as pilot:
        screen = await open_lab(pilot)
        assert "shardSelector" not in shown(app), "the field is for servers with shards"
        await fill(pilot, shard="1/2")
        await until_shown(pilot, "nothing to send", why[:40])
        for key in ("f", "r", "a"):
            await pilot.press(key)
            await pilot.pause()
        assert server.fired == [] and not screen.lab.runner.results
        assert any(why in each.message for each in app._notifications)


async def test_n_fires_the_next_page() -> None:
    server = LabServer()
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("n")
        await until(pilot, lambda: settled(screen, 2))
        assert screen.lab.form.continue_token
        assert server.fired[1].startswith("/api/v1/pods?limit=500&continue=")
        measured = screen.lab.runner.results[1].measured
        assert measured is not None
        assert (measured.items, measured.remaining) == (500, 2_000)


async def test_y_shows_the_request_from_elsewhere_page_by_page() -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, namespace="team-00", limit="50")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("enter")
        await until_shown(pilot, '"predicted": [', "curl", "kubectl", "client-go", "Python")
        said = []
        for _ in range(4):
            await pilot.press("y")
            assert isinstance(app.screen, PagesScreen)
            said.append(app.screen.text)
        path = "/api/v1/namespaces/team-00/pods?limit=50"
        assert said[0].endswith(f"\"$SERVER\"'{path}'")
        assert said[1] == f"kubectl get --raw '{path}'"
        note, _, call = said[2].partition("\n")
        assert note.startswith("// asks for JSON if")
        assert (
            call == 'list, err := clientset.CoreV1().Pods("team-00").List(ctx, metav1.ListOptions{Limit: 50})'
        )
        assert "client.CoreV1Api().list_namespaced_pod(" in said[3]
        await pilot.press("escape")
        assert isinstance(app.screen, LabScreen)


@pytest.mark.parametrize(
    ("equal", "said"), [(True, "pods: cache = etcd at RV 48,102"), (False, "cache ≠ etcd")]
)
async def test_the_cache_is_compared_with_etcd(equal: bool, said: str) -> None:
    server = LabServer()
    server.proof = proof(equal=equal)
    app = lab_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("equals_sign")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "POST /ktui/v1/caches/pods/check {}" in server.asked
        await until_shown(pilot, said, "8c2f00d15ea5e001", "3 RPCs, 17.9 MB")
        await pilot.press("escape")
        await until_shown(pilot, said)
        assert screen.lab.runner.results == []


# What is kept.


async def test_results_survive_a_restart_without_tokens() -> None:
    first = lab_app()
    async with first.run_test(size=NORMAL) as pilot:
        screen = await fill(pilot, limit="500")
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        await pilot.press("n")
        await until(pilot, lambda: settled(screen, 2))
        token = screen.lab.form.continue_token
    path = LabHistory().path
    assert path.stat().st_mode & 0o777 == 0o600
    assert token not in path.read_text()

    second = lab_app()
    async with second.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        assert [(each.number, each.label, each.previous) for each in screen.lab.runner.results] == [
            (1, "original", True),
            (2, "page after #1", True),
        ]
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 3))
        assert screen.lab.runner.results[2].number == 3
        await pilot.press("X")
        await until_shown(pilot, "Delete 3 results, on disk too?")
        await pilot.press("y")
        await until(pilot, lambda: not screen.lab.runner.results)
        assert screen.lab.runner.results == []
        assert not path.exists()


@pytest.mark.parametrize("change", ["server", "history"])
async def test_results_of_another_server_or_history_are_past(change: str) -> None:
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_lab(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        app.tick()
        assert not screen.lab.runner.results[0].previous
        assert app.state.server is not None
        if change == "server":
            app.feed([replace(app.state.server, pid=app.state.server.pid + 1)])
        else:
            app.feed([EtcdProgress(head=7, histories=app.state.head.histories + 1)])
        app.tick()
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 2))
        old, new = screen.results.table.rows
        assert old.result.previous and (old.ms_share, old.processed_share) == (0.0, 0.0)
        assert not new.result.previous and new.ms_share == 1.0
        await until_shown(pilot, " previous")


# A real kube-apiserver.


async def test_a_real_apiserver_is_measured_from_the_clients_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, own = LabServer(), LabServer()
    two_contexts(monkeypatch, tmp_path, server)
    app = lab_app(own)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await choose_kind(pilot)
        await until_shown(
            pilot, "LIST at kind, kube-apiserver 1.31", "predicted by the rules of 1.31", "unencrypted"
        )
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert server.fired == ["/api/v1/pods?limit=1", "/api/v1/pods"], "its size is asked for first"
        assert own.fired == []
        result = screen.lab.runner.results[0]
        assert (result.server, result.answer.body_bytes) == ("kind", 27_000_000)
        assert result.predicted.fetched is not None and result.predicted.fetched.high == 3_000
        await until_shown(
            pilot,
            "C→?",
            "? route not known",
            "/metrics is not available (HTTP 403)",
            "27.0 MB received",
            "scanned 3,000 ? ?",
            "priority level workload-low",
        )


class TracedServer(LabServer):
    """Each LIST has an Audit-ID; its trace arrives, and is drained by the dashboard before the Lab looks."""

    def __init__(self) -> None:
        super().__init__()
        self.receiver = OtlpReceiver("127.0.0.1", 0, 0)
        self.parents: list[str] = []

    async def send_timed(self, path: str, **options: Any) -> TimedResponse:
        answer = await super().send_timed(path, **options)
        if parent := (options.get("headers") or {}).get("traceparent"):
            self.parents.append(parent)
            name = f"id-{len(self.parents)}"
            answer = replace_field(answer, headers={**answer.headers, "audit-id": name})
            unset = "resourceVersion" not in path
            told = {"probe": 1.5, "list": 2.0} if unset else {"list": 2.0}
            self.receiver._give([
                TracedRequest(
                    "list", path, 1, 2, audit_id=each, route="cache", why="seen in the trace",
                    scanned=count, returned=count, rpcs=int(unset), stages=told,
                ) for each, count in ((name, 3_000), ("another client's", 77))
            ])  # fmt: skip
            self.receiver.drain()
        return answer


async def test_where_traces_are_received_each_request_is_judged_by_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = TracedServer()
    two_contexts(monkeypatch, tmp_path, server)
    app = lab_app()
    app.receiver = server.receiver
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        screen = await choose_kind(pilot)
        await pilot.press("f")
        await until(pilot, lambda: settled(screen, 1))
        assert len(server.parents) == 1 and server.parents[0].endswith("-01")
        await until_shown(
            pilot,
            "C→C",
            "seen in the trace",
            "probe 1.5 · list 2",
            "of this very request",
            "27.0 MB processed",
        )
        assert screen.lab.runner.results[0].measured == LabHistory().read()[0].measured
        await pilot.press("a")
        await until(pilot, lambda: settled(screen, 2))
        trial = screen.lab.runner.results[1].trial
        assert trial is not None and trial.sentence == "saves etcd requests 1 → 0"
        assert len({*server.parents}) == len(server.parents)
        assert not server.receiver._searches


@pytest.mark.parametrize(("answer", "fired"), [("n", 1), ("y", 2)])
async def test_a_large_list_of_a_real_apiserver_is_asked_for_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, fired: int
) -> None:
    server = LabServer()
    two_contexts(monkeypatch, tmp_path, server)
    monkeypatch.setattr(large_lists, "MANY_OBJECTS", 1_000)
    app = lab_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await choose_kind(pilot)
        await pilot.press("f")
        await until_shown(pilot, "This LIST goes over 3,000 objects, about 27.0 MB as JSON", "of kind")
        await pilot.press(answer)
        await until(pilot, lambda: settled(screen, fired - 1))
        assert len(server.fired) == fired
