"""What stands in a log, and what never does."""

import argparse
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.cli import logs
from ktui.cli.server.facts import TelemetryLog
from ktui.cli.usage.shared import LOG
from ktui.config.errors import ConfigError
from ktui.contract.events import CacheStatus, EtcdHealth, RequestFinished, RequestStarted


@pytest.fixture(autouse=True)
def quiet_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what `start_log` does to the process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(logs, "_hidden", set())
    monkeypatch.setattr(logs, "_file", None)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("ktui").setLevel(logging.NOTSET)
    logging.captureWarnings(False)


def begin(path: Path, *words: str, form: str = "plain") -> None:
    parser = argparse.ArgumentParser()
    LOG(parser)
    parser.add_argument("--user")
    parser.add_argument("--token")
    args = parser.parse_args(["--log-file", str(path), "--log-format", form, *words])
    logs.start_log(args, "serve")


def test_plain_lines(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log"
    begin(path)
    logging.getLogger("ktui.cli.serve").info("serving %s", "https://h:1")
    logging.getLogger("ktui.cli.serve").debug("not at this level")
    (line,) = path.read_text().splitlines()
    assert line[10] == "T" and line[23] == "Z"
    assert line[25:] == "INFO    serve ktui.cli.serve: serving https://h:1"
    assert path.stat().st_mode & 0o077 == 0


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    path.chmod(0o666)
    begin(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_is_no_symbolic_link(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.symlink_to(tmp_path / "other")
    with pytest.raises(ConfigError) as refused:
        begin(path)
    assert str(refused.value) == f"cannot write the log {path}: it is a symbolic link, name the file itself"
    assert not (tmp_path / "other").exists()


def test_json_lines(tmp_path: Path) -> None:
    begin(tmp_path / "log", "--log-level", "debug", form="json")
    logging.getLogger("ktui.x").debug("a\nb")
    found = json.loads((tmp_path / "log").read_text())
    assert found.keys() == {"time", "level", "process", "pid", "logger", "message"}
    assert (found["level"], found["logger"], found["message"]) == ("debug", "ktui.x", "a\nb")


@pytest.mark.parametrize("form", ("plain", "json"))
def test_no_secret_is_written(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCDCTL_PASSWORD", "from-etcdctl")
    begin(tmp_path / "log", "--user", "root:s3cret", "--token", "bearer-1", form=form)
    logs.hide("made-up-token")
    log = logging.getLogger("ktui.x")
    log.info("s3cret bearer-1 from-etcdctl made-up-token")
    log.info("GET /?token=abcdef&limit=5 Authorization: Bearer xyz.123 password=hunter2")
    log.info('Authorization: Basic dXNlcjpwYXNz, {"token": "in-json"}, https://jane:of%%url@prom:9090/api')
    try:
        raise ValueError("s3cret")
    except ValueError:
        log.exception("why")
    text = (tmp_path / "log").read_text()
    for secret in ("s3cret", "bearer-1", "from-etcdctl", "made-up-token", "abcdef", "xyz.123", "hunter2"):
        assert secret not in text
    assert not any(secret in text for secret in ("dXNlcjpwYXNz", "in-json", "of%url", "of%%url"))
    assert "jane:***@prom:9090" in text
    assert "limit=5" in text and "ValueError" in text


def test_a_line_cannot_steer_a_terminal_or_feign_another(tmp_path: Path) -> None:
    begin(tmp_path / "log")
    logging.getLogger("ktui.x").info("a\x1b[2J\n2026-01-01T00:00:00.000Z INFO feigned")
    text = (tmp_path / "log").read_text()
    assert "\x1b" not in text and "a\\x1b[2J\n    2026" in text


def test_libraries_debug_is_left_out(tmp_path: Path) -> None:
    begin(tmp_path / "log", "--log-level", "debug")
    logging.getLogger("asyncio").debug("selector")
    logging.getLogger("httpx").info("request")
    assert (tmp_path / "log").read_text() == ""


def test_what_happens_in_a_server(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "ktui.server")
    follower = TelemetryLog()
    for event in (
        CacheStatus(resource="pods", state="ready", rv=7, objects=3),
        CacheStatus(resource="pods", state="ready", rv=8, objects=4),
        CacheStatus(resource="pods", state="reinitializing", rv=8, error="compacted"),
        EtcdHealth(ok=True),
        EtcdHealth(ok=False, detail="connection refused"),
        EtcdHealth(ok=True),
        RequestStarted(id=1, verb="LIST", path="/api/v1/pods", query="limit=5", resource="pods", namespace="",
                       name="", client="kubectl", user_agent="kubectl/1"),
        RequestFinished(id=1, status=200, route="cache", ms=1.25),
        RequestFinished(id=2, status=200, route="cache", ms=1.25),
    ):  # fmt: skip
        follower.log(event)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "cache pods is ready at revision 7, 3 objects"),
        ("WARNING", "cache pods is reinitializing at revision 8, 0 objects: compacted"),
        ("WARNING", "etcd does not answer: connection refused"),
        ("INFO", "etcd answers again"),
        ("DEBUG", "LIST /api/v1/pods?limit=5 by kubectl: 200 from cache in 1.2 ms"),
    ]


def test_without_a_file_nothing_is_printed() -> None:
    """Neither by the one who begins no log, nor by Python for want of a handler."""
    program = (
        "import ktui.cli.child, ktui.cli.serve, ktui.cli.dashboard\n"
        "for module in (ktui.cli.child, ktui.cli.serve, ktui.cli.dashboard): module.log.error('said already')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
