"""Contexts, the log and a picture, by the real program over a real etcd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ktui.client.connection import ServerConnection
from ktui.contract.events import EtcdProgress, ServerInfo
from ktui.core.recordings.recorder import write_recording

pytestmark = pytest.mark.etcd


def ktui(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ETCDCTL_", "KTUI_"))}
    own = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
    return subprocess.run(
        [sys.executable, "-m", "ktui", *words],
        env=kept | own, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip


def configure(home: Path, text: str) -> None:
    (home / "ktui").mkdir()
    (home / "ktui" / "config.toml").write_text(text)
    (home / "ktui" / "config.toml").chmod(0o600)


def test_a_list_at_a_context_of_a_running_server(server: ServerConnection, tmp_path: Path) -> None:
    configure(tmp_path, f'[contexts.here]\nattach = "{server.url}"\ntoken = "{server.token or "none"}"\n')
    done = ktui(tmp_path, "list", "/api/v1/pods", "--context", "here", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"] == 240


def test_a_list_at_a_context_that_needs_a_server(tmp_path: Path) -> None:
    """etcd's address comes from the file; nothing listens there, and the error says so."""
    configure(tmp_path, '[contexts.gone]\netcd = ["http://127.0.0.1:1"]\n')
    done = ktui(tmp_path, "list", "/api/v1/pods", "--context", "gone")
    assert done.returncode == 3
    assert "starting a server over the etcd of context gone" in done.stderr
    assert "127.0.0.1:1" in done.stderr.splitlines()[-1]


def test_a_screenshot_and_a_log_without_a_terminal(tmp_path: Path) -> None:
    configure(tmp_path, '[demo]\npods = 60\nnodes = 3\n[dashboard]\ntheme = "ktui-light"\n')
    picture, log = tmp_path / "k.svg", tmp_path / "k.log"
    words = ("--screenshot", str(picture), "--size", "120x40", "--press", "5", "--log-file", str(log))
    gates = ("--kube-version", "1.37", "--feature-gates", "ShardedListAndWatch=true")
    done = ktui(tmp_path, *words, *gates)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "GET&#160;/api/v1/pods" in picture.read_text()
    assert "shardSelector" in picture.read_text(), "the dashboard knows the server's gates"
    lines = log.read_text()
    assert "dashboard ktui.cli.child: server started" in lines
    assert "serve ktui.cli.serve: serving https://" in lines
    assert "serve ktui.cli.serve: stopped" in lines


def test_a_screenshot_of_a_quiet_recording_waits_for_no_request(tmp_path: Path) -> None:
    recording, picture = tmp_path / "quiet.ndjson", tmp_path / "k.svg"
    info = ServerInfo(
        ktui_version="0.1.0",
        kube_version="1.36",
        etcd_version="3.5.1",
        etcd_kind="external",
        endpoints=["http://10.0.0.1:2379"],
        writable=False,
        progress="supported",
        name="quiet-etcd",
        at=100.0,
        seq=1,
    )
    write_recording(recording, [info, EtcdProgress(head=1_234, at=101.0, seq=2)])
    done = ktui(tmp_path, "--replay", str(recording), "--screenshot", str(picture))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "quiet-etcd" in picture.read_text()
