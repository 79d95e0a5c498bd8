"""`ktui recording`: info, cut, share."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from ktui.cli.main import main
from ktui.contract.events import AnyEvent, EtcdProgress, Marker, RequestFinished, RequestStarted, ServerInfo
from ktui.core.recordings.recorder import write_recording
from ktui.core.replay.index import Index
from tests.recordings import read_recording

BEGAN = 1_790_000_000.0


def events() -> list[AnyEvent]:
    """A minute, a request every second, the last one still under way."""
    told: list[AnyEvent] = [
        ServerInfo(
            at=BEGAN, ktui_version="1", kube_version="1.36", etcd_version="3.6.0", etcd_kind="external",
            endpoints=["https://10.9.8.7:2379"], writable=False, progress="supported", pid=7, name="prod",
        )
    ]  # fmt: skip
    for second in range(60):
        at = BEGAN + second
        told.append(EtcdProgress(at=at, head=1_000 + second))
        told.append(
            RequestStarted(
                at=at, id=second, verb="GET", path=f"/api/v1/namespaces/shop/pods/web-{second}", query="",
                resource="pods", namespace="shop", name=f"web-{second}", client="kubectl",
                user_agent="kubectl/v1.36",
            )
        )  # fmt: skip
        if second < 59:
            told.append(RequestFinished(at=at + 0.5, id=second, status=200, route="cache", ms=500.0))
        if second == 30:
            told.append(Marker(at=at + 0.5, text="deploy of shop"))
    return told


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.ndjson.gz"
    write_recording(path, events())
    return path


def test_info_tells_what_a_recording_is_about(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside = recording.with_name(recording.name + ".markers.json")
    beside.write_text(f'{{"markers": [{{"at": {BEGAN + 5}, "text": "slow"}}]}}')
    assert main(["recording", "info", str(recording)]) == 0
    said = capsys.readouterr().out
    assert "prod, ktui 1, etcd 3.6.0 (external), rules of Kubernetes 1.36" in said
    assert "request_finished            59" in said and "00:59\n" in said and "unpacked" in said
    assert "   00:05  ◆ slow\n     00:30  ◆ deploy of shop" in said
    assert main(["recording", "info", str(recording), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["events"] == len(events()) and told["by_type"]["progress"] == 60
    assert [mark["text"] for mark in told["marks"]] == ["slow", "deploy of shop"]


def test_info_skips_what_is_newer_and_warns_of_a_broken_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.ndjson"
    write_recording(path, events())
    path.write_bytes(b'{"type":"sharded_watch"}\n' + path.read_bytes()[:-9])
    assert main(["recording", "info", str(path)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"of a newer ktui +1  skipped", said)
    assert "warning   line 182 is incomplete" in said


def test_a_cut_begins_with_how_things_stood(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = recording.with_name("cut.ndjson")
    words = ["recording", "cut", str(recording), str(target), "--from", "20.2", "--to", "0:40"]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f"written to {target}\n")
    told = list(read_recording(target))
    assert isinstance(told[0], ServerInfo) and told[0].at == BEGAN + 20.2
    ids = [event.id for event in told if isinstance(event, RequestStarted)]
    assert ids == list(range(20, 41)), "request 20 was under way"
    assert sum(isinstance(event, Marker) for event in told) == 1
    whole, part = Index(recording), Index(target)
    assert part.began == BEGAN + 20.2 and part.ended == BEGAN + 40
    before, after = whole.place_at(BEGAN + 30.6).state, part.place_at(BEGAN + 30.6).state
    assert after.head.revision == before.head.revision and after.server == told[0]
    assert after.requests[30].finished == before.requests[30].finished
    whole.close(), part.close()


def test_a_cut_without_times_is_a_copy_with_the_marks_in_it(recording: Path) -> None:
    beside = recording.with_name(recording.name + ".markers.json")
    beside.write_text(f'{{"markers": [{{"at": {BEGAN + 5.2}, "text": "slow"}}]}}')
    target = recording.with_name("copy.ndjson")
    assert main(["recording", "cut", str(recording), str(target)]) == 0
    told = list(read_recording(target))
    assert [event for event in told if event not in events()] == [Marker(at=BEGAN + 5.2, text="slow")]
    assert len(told) == len(events()) + 1


def test_a_shared_copy_names_nothing(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = recording.with_name("shared.ndjson")
    assert main(["recording", "share", str(recording), str(target)]) == 0
    text = target.read_text()
    assert "shop" not in text and "web-1" not in text and "10.9.8.7" not in text and "prod" not in text
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [event.at for event in read_recording(target)] == [event.at for event in events()]
    kept = recording.with_name("kept.ndjson")
    assert main(["recording", "share", str(recording), str(kept), "--names", "keep"]) == 0
    assert '"name":"web-1"' in kept.read_text() and "10.9.8.7" not in kept.read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["info", "{dir}/none"], "ktui: cannot read {dir}/none: No such file or directory"),
        (["info", "{dir}/text"], "ktui: {dir}/text is not a recording: line 1: not a telemetry event: "),
        (["cut", "{r}", "{dir}/out", "--from", "soon"], "ktui: 'soon' is not a time of a recording: "),
        (
            ["cut", "{r}", "{dir}/out", "--from", "90"],
            "ktui: 90 lies outside the recording, which is 59 s long",
        ),
        (["cut", "{r}", "{dir}/out", "--from", "40", "--to", "20"], "ktui: --to 20 lies before --from 40"),
        (["cut", "{r}", "{dir}/text"], "ktui: cannot write {dir}/text: File exists"),
        (["share", "{r}", "{r}"], "ktui: cannot write {r}: File exists"),
        (
            ["share", "{r}", "{dir}/out.zst"],
            "ktui: cannot record to {dir}/out.zst: recordings are plain or gzip",
        ),
        (["share", "{dir}/text", "{dir}/out"], "ktui: cannot write {dir}/out: {dir}/text is not a recording"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: list[str], says: str, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = {"dir": str(recording.parent), "r": str(recording)}
    recording.with_name("text").write_text("hello\n")
    assert main(["recording", *(word.format(**where) for word in words)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(says.format(**where)) and said.count("\n") == 1
    assert not recording.with_name("out").exists()
