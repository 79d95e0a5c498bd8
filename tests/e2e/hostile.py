"""Text that would control a terminal, where it comes from, and what may reach a terminal of it: nothing."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import typing
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
from msgspec import inspect

from ktui.client.ktui_api import KtuiApi
from ktui.contract import paths
from ktui.contract.events import AnyEvent
from tests.e2e.terminal import HANGS
from tests.http_server import TestServer

DEMO = Path(__file__).parents[1] / "tui" / "data" / "demo.ndjson"
SEEN = "PWNED"  # plain letters of the hostile text: proof that it reached the screen
HOSTILE = (
    f"{SEEN}\x1b]52;c;{SEEN}\x07\x1b]8;;http://evil.example\x1b\\\x1b[31337m\x1b[2J\x1bP{SEEN}\x1b\\"
    "\x9b31337m\x9d0;title\x9c\u202e\u2066\u200b\u200d\x7f\x00\x08\r\n"
)
FORBIDDEN = {
    "OSC 52 (clipboard)": b"\x1b]52",
    "OSC 8 (link)": b"\x1b]8;;http",
    "CSI of the text": b"\x1b[31337m",
    "OSC of the text (title)": b"\x1b]0;title",
    "DCS": b"\x1bP" + SEEN.encode(),
    "C1 CSI": "\x9b".encode(),
    "C1 OSC": "\x9d".encode(),
    "right-to-left override": "\u202e".encode(),
    "isolate": "\u2066".encode(),
    "zero width space": "\u200b".encode(),
    "zero width joiner": "\u200d".encode(),
    "DEL": b"\x7f",
    "NUL": b"\x00",
}
# What routes an event through the reducer: kept in half of the events, hostile in the others.
CONTROLS = {"state", "route", "verb", "change", "op", "reason_id", "etcd_kind", "progress", "wait"}
EVENTS = {event.__struct_config__.tag: event for event in typing.get_args(AnyEvent)}


# What ktui itself writes on a line of text: colours, and the progress bars of the terminal's owner.
_OWN = re.compile(r"\x1b\[(?:[0-9;]{0,12}[mAK]|\?25[lh])")


def strangers_in(output: bytes) -> set[str]:
    """Characters in a command's output that are neither printable nor of ktui's own colours."""
    rest = _OWN.sub("", output.decode("utf-8", "replace"))
    return {char for char in rest if not char.isprintable() and char not in "\r\n\t"}


def controls_in(output: bytes) -> list[str]:
    """Which controls of the hostile text are among the bytes that a terminal got."""
    return [name for name, sequence in FORBIDDEN.items() if sequence in output]


def text_fields(event: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(event) if field.type is str]


def poisoned(value: Any) -> Any:
    """`value` with hostile text in every text in it."""
    if isinstance(value, str):
        return value[:8] + HOSTILE + value[8:]
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value


def hostile_lines() -> list[str]:
    """The demo's recording, hostile in every text field of every event, those it leaves out included."""
    lines = []
    for number, line in enumerate(DEMO.read_text(encoding="utf-8").splitlines()):
        event = json.loads(line)
        kept = {"type"} | (CONTROLS if number % 2 or event["type"] == "cache" else set())
        for name in text_fields(EVENTS[event["type"]]):
            event.setdefault(name, "")
        lines.append(json.dumps({name: v if name in kept else poisoned(v) for name, v in event.items()}))
    return lines


def hostile_audit_log() -> str:
    """A log of kube-apiserver: five requests, a line of something else, and a broken one."""
    event = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": "list"}
    event |= {"requestURI": f"/api/v1/pods?labelSelector={HOSTILE}", "auditID": HOSTILE}
    event |= {"user": {"username": HOSTILE, "groups": [HOSTILE]}, "userAgent": HOSTILE}
    event |= {"responseStatus": {"code": 200, "message": HOSTILE}}
    event |= {"requestReceivedTimestamp": "2026-11-22T10:00:00.000000Z"}
    event |= {"stageTimestamp": "2026-11-22T10:00:00.500000Z"}
    return f"{json.dumps(event)}\n" * 5 + f"{HOSTILE}\n" + '{"kind":"Event","verb":"' + HOSTILE


def hostile_etcd_log() -> str:
    request = f'header:<> range:<key:"/registry/{HOSTILE}" >'
    line = {"level": "warn", "ts": "2026-11-22T10:00:00.000Z", "msg": "apply request took too long"}
    return json.dumps({**line, "took": "200ms", "request": request, "response": HOSTILE, "error": HOSTILE})


def hostile_kubeconfig(url: str) -> str:
    """JSON, which YAML is too."""
    named = {"current-context": HOSTILE, "apiVersion": "v1", "kind": "Config"}
    return json.dumps(
        {
            **named,
            "clusters": [{"name": HOSTILE, "cluster": {"server": url}}],
            "users": [{"name": HOSTILE, "user": {"token": "t"}}],
            "contexts": [{"name": HOSTILE, "context": {"cluster": HOSTILE, "user": HOSTILE}}],
        }
    )


def hostile_recording(path: Path) -> Path:
    path.write_text("\n".join(hostile_lines()) + "\n", encoding="utf-8")
    return path


def hostile_value(kind: inspect.Type, text: str = HOSTILE) -> Any:
    """A value that msgspec accepts as `kind`, with the hostile `text` wherever its type allows text."""
    match kind:
        case inspect.StrType():
            return "77" if kind.pattern else text
        case inspect.ListType():
            return [hostile_value(kind.item_type, text)] * 2
        case inspect.DictType():
            return {hostile_value(kind.key_type, text): hostile_value(kind.value_type, text)}
        case inspect.StructType():
            return {field.encode_name: hostile_value(field.type, text) for field in kind.fields}
        case inspect.UnionType():
            present = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            return hostile_value(present[0], text)
        case inspect.AnyType():
            return {"kind": text, text: [text, 1, None], "metadata": {"name": text}}
        case inspect.BoolType():
            return True
        case inspect.FloatType():
            return 0.5
        case inspect.IntType():
            return 7
    raise AssertionError(f"no hostile value of {kind} is known")


def mark_of(document: type[msgspec.Struct]) -> str:
    """Plain letters that the hostile text of one document begins with: proof that it reached the screen."""
    return document.__name__[:3] + document.__name__[-2:]


def documents() -> set[type[msgspec.Struct]]:
    """Every document that the dashboard's client reads, by the annotations of its methods."""
    answers = [
        typing.get_type_hints(method).get("return")
        for name, method in vars(KtuiApi).items()
        if callable(method) and not name.startswith("_")
    ]
    parts = [part for answer in answers for part in typing.get_args(answer) or [answer]]
    return {part for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)}


def program(command: Sequence[str], home: Path, start: Sequence[str] = ("-m", "ktui")) -> tuple[bytes, int]:
    """What ktui writes to a terminal of 120×40, and its exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
    own |= {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "KTUI"))
    }
    process = subprocess.Popen(
        [sys.executable, *start, *command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        cwd=home,  # what a key may export to
        env={**inherited, **own},
    )
    os.close(slave)
    try:
        got = _rest(master)
        process.wait(HANGS)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return got, process.returncode


def _rest(master: int) -> bytes:
    """All that follows until the program has closed its terminal."""
    got, deadline = b"", time.monotonic() + HANGS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 1.0)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:  # as Linux says that the other end is closed
                return got
            if not piece:
                return got
            got += piece
    raise AssertionError(f"the program has not ended; it wrote {got[-2000:]!r}")


_ROUTES = {
    paths.INFO: "ServerInfo",
    paths.BEHAVIOUR: "Rules",
    paths.REQUESTS + "/[0-9]+": "RequestFinished",
    paths.ETCD_PREFIXES: "PrefixPage",
    paths.ETCD_KEYS: "KeyPage",
    paths.ETCD_KEY: "KeyDetail",
    paths.ETCD_HISTORY: "KeyHistory",
    paths.ETCD_SURVEY: "SurveyPage",
    paths.ETCD_CHURN: "Churn",
    paths.FAULTS: "ActiveFaults",
    paths.CACHE_OBJECTS.format("[^/]+"): "ObjectPage",
    paths.CACHE_EVENTS.format("[^/]+"): "EventPage",
    paths.CACHE_CHECK.format("[^/]+"): "ConsistencyCheck",
}


class HostileServer(TestServer):
    """A ktui server whose every text is hostile. `asked` holds the names of the documents it has sent.

    A path with `refused` is an error, `…/raw` the text itself, everything else a list of hostile objects.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: set[str] = set()
        self.ended = Event()
        self.documents = {
            document.__name__: json.dumps(
                hostile_value(inspect.type_info(document), mark_of(document) + HOSTILE + mark_of(document))
            ).encode()
            for document in documents()
        }

    def follow_rules(self, version: str) -> None:
        """Follow the rules of a version that is one: commands go on from there."""
        self.documents["Rules"] = json.dumps({"kube_version": version}).encode()

    def _document(self, name: str, path: str) -> bytes:
        """A survey ends with its second page, and reports of churn are lines."""
        document = self.documents[name]
        if name == "SurveyPage" and "after=" in path:
            return json.dumps({**json.loads(document), "next": ""}).encode()
        return document + b"\n"

    def answer(self, path: str) -> tuple[int, bytes]:
        plain = path.partition("?")[0]
        for pattern, name in _ROUTES.items():
            if re.fullmatch(pattern, plain):
                self.asked.add(name)
                return 200, self._document(name, path)
        if plain.endswith("/raw"):
            return 200, HOSTILE.encode()
        metadata = {"resourceVersion": HOSTILE, "continue": HOSTILE, "name": HOSTILE, "namespace": HOSTILE}
        if "refused" in path:
            return 403, json.dumps({"kind": "Status", "message": HOSTILE, "reason": HOSTILE}).encode()
        body = {"kind": HOSTILE, "metadata": metadata, "items": [{"metadata": metadata}], "message": HOSTILE}
        return 200, json.dumps({**body, "gitVersion": HOSTILE, "major": HOSTILE, "minor": HOSTILE}).encode()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HostileServer

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.partition("?")[0] in (paths.TELEMETRY, paths.PRESENT):
            self._telemetry()
            return
        status, body = self.server.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        foreign = (SEEN + "\x9b31337m\x9d0;title\x9c\u202e\u2066").encode().decode("latin-1")
        for name in ("Route", "Reason", "Cost"):
            self.send_header(f"X-Ktui-{name}", foreign)
        self.send_header("X-Ktui-Request-Id", "7")
        self.send_header("Warning", foreign)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_DELETE = do_GET

    def _telemetry(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        lines = [f"{line}\n".encode() for line in hostile_lines()]
        self.wfile.write(b"".join(lines))
        while self.path.startswith(paths.TELEMETRY) and not self.server.ended.wait(1.0):
            self.wfile.write(lines[-1])  # a silent server is given up
        self.close_connection = True

    def log_message(self, *words: Any) -> None:
        pass


@contextlib.contextmanager
def hostile_server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
