"""`ktui record` as a process over a server with recorded pages: signals, restarts, findings, traces."""

from __future__ import annotations

import argparse
import asyncio
import configparser
import contextlib
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import yaml
from msgspec.structs import replace

from ktui.cli import record
from ktui.cli.dashboard import _add_sources, _recorded_traces
from ktui.cli.main import command_of, main, parser_of
from ktui.client.kubeconfig_reader import read_kubeconfig
from ktui.contract.events import AnyEvent, LiveServer, Marker, ReplicaScrape, RequestFinished, ServerInfo
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.recorder import Recorder
from ktui.core.recordings.segments import segments_of
from ktui.kube.versions import behaviour_of
from ktui.live.access import binding_document, role_document
from ktui.traces.feed import traces_server
from ktui.traces.receiver import OtlpReceiver
from ktui.tui.replay.source import ReplaySource
from ktui.tui.source import LiveSource
from tests.recordings import read_recording
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, serving
from tests.unit.live.test_prometheus import prometheus, until_sum
from tests.unit.traces.test_exports import messages

HANGS = 60.0  # seconds: the bound of a wait that never ends, no measure of speed


class Turning(Recorded):
    """The last page from the second scrape of a replica on; `scraped` is set some scrapes later."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.pages = 0
        self.enough = 8
        self.scraped = threading.Event()

    def answer(self, replica: int, path: str, user: str) -> Answer:
        if self.down:
            return 503, "text/plain", b"shutting down"
        if path == "/metrics":
            self.pages += 1
            self.moment = FIRST if self.pages <= 6 else LAST
            if self.pages >= self.enough:
                self.scraped.set()
        return super().answer(replica, path, user)

    def wait(self, more: int) -> None:
        """Wait until `more` pages were answered."""
        self.enough = self.pages + more
        self.scraped.clear()
        assert self.scraped.wait(HANGS)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def write_config(config: Path, recorded: Recorded) -> None:
    document = {
        "current-context": "recorded",
        "clusters": [{"name": "c", "cluster": {"server": recorded.url}}],
        "users": [{"name": "u", "user": {"token": "admin"}}],
        "contexts": [{"name": "recorded", "context": {"cluster": "c", "user": "u"}}],
    }
    config.write_text(json.dumps(document))


@contextlib.contextmanager
def record_process(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "ktui", "record", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def recording(
    config: Path, directory: Path, *words: str
) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
    return record_process("--kubeconfig", str(config), "--interval", "1s", *words, str(directory))


def line(process: subprocess.Popen[str], text: str) -> str:
    """Wait for a line on standard error that has `text`."""
    assert process.stderr is not None
    said = []
    for each in process.stderr:
        said.append(each)
        if text in each:
            return each
    raise AssertionError(said)


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=HANGS)
    return process.returncode, out, err


def markers(directory: Path) -> list[Marker]:
    return [event for event in read_recording(directory) if isinstance(event, Marker)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_summary(number: int, config: Path, tmp_path: Path) -> None:
    directory = tmp_path / "d"
    with serving(Turning()) as recorded:
        assert isinstance(recorded, Turning)
        write_config(config, recorded)
        with recording(config, directory) as process:
            line(process, f"recording into {directory}")
            recorded.wait(12)
            status, out, err = stop(process, number)
    assert status == 0, err
    said = out.splitlines()
    assert said[0].startswith("recorded 00:") and "in 1 segment (" in said[0]
    assert "new findings; the worst, at " in said[1] and "warning: secrets: " in said[1]
    assert said[2] == f"replay it: ktui --replay {directory}"
    with RecordingReader(directory) as reader:
        events = [each.event for each in reader.lines()]
        assert not reader.warning, "ended properly"
    assert isinstance(events[0], ServerInfo) and isinstance(events[1], LiveServer)
    assert sum(isinstance(event, ReplicaScrape) for event in events) >= 4
    found = markers(directory)
    assert {marker.text.split(":")[1] for marker in found} >= {" secrets"}
    assert len({marker.text for marker in found}) == len(found), "each finding once"
    assert {path for method, path in recorded.requests if method != "GET"} == set()


@pytest.mark.slow
def test_it_survives_the_server_and_itself(config: Path, tmp_path: Path) -> None:
    """The server is away and comes back; the recorder is killed and started again."""
    directory = tmp_path / "d"
    with serving(Turning()) as recorded:
        assert isinstance(recorded, Turning)
        write_config(config, recorded)
        with recording(config, directory) as process:
            recorded.wait(8)
            recorded.down = True
            line(process, "503")
            recorded.down = False
            line(process, "the server answers again")
            recorded.wait(8)
            process.send_signal(signal.SIGKILL)
            process.wait(HANGS)
        first = segments_of(directory)
        with recording(config, directory) as process:
            line(process, f"{first[0].name} was not ended by its recorder")
            line(process, "recording into")
            recorded.wait(8)
            with recording(config, directory) as second:
                assert second.wait(HANGS) == 2
                line(second, "another `ktui record` writes into")
            assert stop(process)[0] == 0
    assert [path.name for path in segments_of(directory)][:1] == [path.name for path in first]
    assert len(segments_of(directory)) == 2
    with RecordingReader(directory) as reader:
        assert sum(isinstance(each.event, ServerInfo) for each in reader.lines()) >= 2
        marked = [each.event.text for each in reader.lines() if isinstance(each.event, Marker)]
        assert any(text.startswith("warning: kube-apiserver: no figures: ") for text in marked)
        assert not reader.warning


def test_a_server_that_is_not_there_yet(config: Path, tmp_path: Path) -> None:
    with serving(Recorded()) as recorded:
        write_config(config, recorded)
    with recording(config, tmp_path / "d") as process:
        line(process, "tried again every 15 s")
        status, _, err = stop(process)
    assert status == 3
    assert "nothing was recorded: " in err


def test_for_ends_it(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However short the time is, it has the first answer that the server gives."""
    monkeypatch.setattr(record, "GRACE", HANGS)
    with serving(Recorded()) as recorded:
        write_config(config, recorded)
        words = ["--kubeconfig", str(config), "--for", "1s", str(tmp_path / "d")]
        status = main(["record", *words])
    out, err = capsys.readouterr()
    assert (status, out.splitlines()[1:2]) == (0, ["no finding"]), err


def test_for_ends_it_without_an_answer(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "GRACE", 0.01)
    over = threading.Event()

    def wait(replica: int, path: str) -> Answer:
        over.wait(HANGS)
        return 503, "text/plain", b"too late"

    with serving(Recorded(override=wait)) as recorded:
        write_config(config, recorded)
        status = main(["record", "--kubeconfig", str(config), "--for", "1s", str(tmp_path / "d")])
        over.set()
    assert status == 3
    said = capsys.readouterr().err.splitlines()  # of the server too, whose answer came too late
    assert "ktui: nothing was recorded: the server has not answered yet" in said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="there is no prometheus on PATH")
def test_what_a_prometheus_scrapes(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    with serving(Recorded(replicas=(0,))) as recorded, prometheus(tmp_path, recorded.url) as url:
        asyncio.run(until_sum(url, "apiserver_resource_objects", lambda value: value > 0))
        with record_process("--prometheus", url, str(directory)) as process:
            line(process, f"recording into {directory}")
            status, _, err = stop(process)
    assert status == 0, err
    found = list(read_recording(directory))
    assert {event.origin for event in found if isinstance(event, LiveServer)} == {"prometheus"}
    assert any(isinstance(event, ReplicaScrape) for event in found)


def send_traces(process: subprocess.Popen[str]) -> None:
    """Send the recorded exports to the receiver that `process` names: 25 requests."""
    port = line(process, "listening for OTLP").split("(gRPC) and ")[1].split()[0]
    for body in messages():
        kind = {"Content-Type": "application/x-protobuf"}
        url = f"http://127.0.0.1:{port}/v1/traces"
        httpx.post(url, content=body, headers=kind).raise_for_status()


@pytest.mark.slow
def test_requests_of_traces(tmp_path: Path) -> None:
    """Traces alone: what has come is in the recording, and a later run numbers its requests differently."""
    directory = tmp_path / "d"
    numbers = []
    for runs in (1, 2):
        with record_process("--otlp", "127.0.0.1:0", str(directory)) as process:
            send_traces(process)
            status, out, _ = stop(process)
        assert (status, out.splitlines()[1]) == (0, "no finding")
        found = list(read_recording(directory))
        assert isinstance(found[0], ServerInfo) and found[0].endpoints[0].startswith("otlp://")
        numbers = [event.id for event in found if isinstance(event, RequestFinished)]
        assert len(numbers) == 25 * runs
    assert len(set(numbers)) == len(numbers)
    assert _recorded_traces(str(directory)) == (True, True)


@pytest.mark.slow
def test_requests_of_traces_next_to_metrics(config: Path, tmp_path: Path) -> None:
    directory = tmp_path / "d"
    with serving(Recorded()) as recorded:
        write_config(config, recorded)
        with recording(config, directory, "--otlp", "127.0.0.1:0") as process:
            send_traces(process)
            line(process, f"recording into {directory}")
            status, out, _ = stop(process)
    assert status == 0, out
    found = list(read_recording(directory))
    assert sum(isinstance(event, RequestFinished) for event in found) == 25
    assert any(isinstance(event, LiveServer) for event in found)
    assert _recorded_traces(str(directory)) == (True, False), "a replay shows the requests too"


@pytest.mark.anyio
async def test_a_recording_of_the_dashboard_names_its_traces(tmp_path: Path) -> None:
    class Cluster(LiveSource):
        def __init__(self) -> None: ...

        async def batches(self) -> AsyncIterator[list[AnyEvent]]:
            yield [replace(traces_server(receiver, behaviour_of()), endpoints=["https://10.0.0.1:6443"])]

    receiver = OtlpReceiver("127.0.0.1", 0, 0)
    path = tmp_path / "r.ndjson"
    recorder = Recorder(path)
    source = _add_sources(Cluster(), parser_of("").parse_args([]), "", receiver)
    async for events in source.batches():
        recorder.write(events)
    recorder.close()
    assert _recorded_traces(str(path)) == (True, False)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_replay_of_the_directory_opens_at_the_worst_finding(config: Path, tmp_path: Path) -> None:
    directory = tmp_path / "d"
    with serving(Turning()) as recorded:
        assert isinstance(recorded, Turning)
        write_config(config, recorded)
        with recording(config, directory) as process:
            recorded.wait(12)
            assert (await anyio.to_thread.run_sync(stop, process))[0] == 0
    source = ReplaySource(directory)
    await source.connect(lambda text: None)
    assert source.playback is not None
    worst = max(markers(directory), key=lambda marker: (marker.severity, marker.cost))
    position: Any = source.playback.position
    assert (position.at, position.playing) == (worst.at, False)
    assert source.playback.player.state.live.resources, "the figures of that moment"
    await source.close()
    one = ReplaySource(segments_of(directory)[0])
    await one.connect(lambda text: None)
    assert one.playback is not None and one.playback.position.playing, "a file begins at its beginning"
    await one.close()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--for", "soon"], 2, "write it like 48h or 7d"),
        (["--for", "400d"], 2, "at most a year"),
        (["--max-size", "2"], 2, "write it like 500MB or 2GB"),
        (["--max-size", "1MB"], 2, "at least 10MB"),
        (["--retention", "5m"], 2, "at least 10m"),
        (["--interval", "10ms"], 2, "at least 1s"),
        (["--kubeconfig", "/nowhere"], 3, "cannot read the kubeconfig /nowhere"),
        (["--prometheus", "prom:9090"], 3, "is not the address of a Prometheus"),
    ],
)
def test_misuse(
    words: list[str], status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = main(["record", *words, str(tmp_path / "d")])
    except SystemExit as left:
        found = int(str(left.code))
    assert found == status
    assert says in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_a_directory_after_otlp_is_no_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "d"
    args = parsed(["record", "--otlp", str(directory)])
    record._find_directory(args)
    assert (args.otlp, args.directory) == ("", str(directory))
    for words in (["--otlp"], ["--otlp", "127.0.0.1:0"], []):
        assert main(["record", *words]) == 2
        assert "DIR is missing" in capsys.readouterr().err


def test_a_directory_that_is_a_file(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Recorded()) as recorded:
        write_config(config, recorded)
        assert main(["record", "--kubeconfig", str(config), str(config)]) == 2
    assert f"cannot record into {config}: File exists" in capsys.readouterr().err


# What docs/record.md tells people to deploy.

PAGE = Path(__file__).parents[3] / "docs" / "record.md"


def block(kind: str) -> str:
    """Return the page's only block of a kind."""
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


def parsed(words: list[str]) -> argparse.Namespace:
    """Parse the words after `ktui`; ends the test for an option that does not exist."""
    assert words[0] == "record"
    return parser_of("record").parse_args(words[1:])


def test_the_examples_of_help_are_understood() -> None:
    examples = re.findall(r"^  ktui (record .*?)(?:   .*)?$", command_of("record").epilog or "", re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        args = parsed(shlex.split(example))
        record._find_directory(args)
        assert args.directory and args.otlp in (None, "")


def test_the_systemd_unit_names_real_options() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block("ini"))
    assert unit.sections() == ["Unit", "Service", "Install"]
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    args = parsed(words)
    assert program.endswith("/ktui")
    assert (args.kubeconfig, args.retention, args.max_size) == ("%d/kubeconfig", 172_800, 2_000_000_000)
    assert unit["Service"]["LoadCredential"].startswith("kubeconfig:")
    assert args.directory == f"/var/lib/{unit['Service']['StateDirectory']}"
    assert int(unit["Service"]["MemoryMax"].removesuffix("M")) >= 120


def test_the_deployment_has_the_rights_of_ktui_rbac_and_real_options(tmp_path: Path) -> None:
    documents = list(yaml.safe_load_all(block("yaml")))
    by_kind = {document["kind"]: document for document in documents}
    assert len(by_kind) == len(documents)
    assert by_kind["ClusterRole"] == role_document()
    assert by_kind["ClusterRoleBinding"] == binding_document("", "", "ktui:ktui")
    deployment = by_kind["Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == by_kind["ServiceAccount"]["metadata"]["name"]
    (container,) = pod["containers"]
    args = parsed(container["args"])
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert set(mounts.values()) == set(volumes)
    assert volumes[mounts["/data"]]["persistentVolumeClaim"]["claimName"] == "ktui-record"
    folder, file = args.kubeconfig.rsplit("/", 1)
    assert volumes[mounts[folder]]["configMap"]["name"] == by_kind["ConfigMap"]["metadata"]["name"]
    kubeconfig = by_kind["ConfigMap"]["data"][file]
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("secret")
    authority.write_text("-----BEGIN CERTIFICATE-----")
    at = "/var/run/secrets/kubernetes.io/serviceaccount"
    path = tmp_path / "config"
    path.write_text(kubeconfig.replace(at, str(tmp_path)))
    connection = read_kubeconfig([path])
    assert (connection.url, connection.token) == ("https://kubernetes.default.svc", "secret")
