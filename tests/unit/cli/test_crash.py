"""Of a mistake of ktui's own a user reads one message; the traceback is in a file."""

import argparse
import asyncio
import gc
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.cli import crash, logs, main
from ktui.cli.output import CRASHED
from ktui.cli.usage.shared import LOG


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch, nobodys_settings: Path) -> Iterator[None]:
    """Undo what `keep_quiet` and `start_log` do to the process."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(logs, "_hidden", {"s3cret"})
    monkeypatch.setattr(logs, "_file", None)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state-home" / "ktui" / "crash.log"


def broken(*_: object) -> int:
    raise RuntimeError("deliberately \x1b[31mbroken, token=abc, s3cret\nand more")


def test_a_command_that_crashes_tells_what_where_and_how_to_report_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    monkeypatch.setattr(main, "_run", broken)
    assert main.main(["list"]) == CRASHED
    told = capsys.readouterr()
    assert told.out == ""
    first, origin, where, how = told.err.splitlines()
    assert first == ("ktui: crashed (a bug in ktui): RuntimeError: deliberately ␛[31mbroken, token=***, ***")
    assert origin.startswith("  at ktui/cli/main.py:")
    assert where == f"  the traceback is in {file}"
    assert "ktui info" in how
    written = file.read_text()
    assert "Traceback (most recent call last)" in written and "in broken" in written
    assert "abc" not in written and "s3cret" not in written
    assert file.stat().st_mode & 0o077 == 0


def test_the_traceback_goes_to_the_log_where_there_is_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: Path
) -> None:
    begin_log(tmp_path / "log")
    assert crash.report(raised()) == CRASHED
    assert f"the traceback is in {tmp_path / 'log'}" in capsys.readouterr().err
    assert "Traceback" in (tmp_path / "log").read_text()
    assert not file.exists()


def test_a_log_that_cannot_be_written_is_reported_once_and_replaced(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    begin_log(Path("/dev/full"))
    for _ in range(3):
        logging.getLogger("ktui").warning("this cannot be written")
    assert capsys.readouterr().err == ""
    crash.report(raised())
    assert f"the traceback is in {file}" in capsys.readouterr().err
    logs.report_log_problem()
    assert capsys.readouterr().err == "ktui: the log /dev/full ends early: No space left on device\n"


def test_a_traceback_that_cannot_be_written_is_no_second_crash(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    file.parent.parent.write_text("a file where the directory should be")
    assert crash.report(raised()) == CRASHED
    assert "could not be saved: Not a directory" in capsys.readouterr().err


def test_the_file_of_crashes_is_bounded(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x" * (crash.MOST_BYTES + 1))
    crash.note(raised())
    crash.note(raised())
    assert file.read_text().count("Traceback") == 2
    assert not file.read_text().startswith("x")


def test_what_threads_and_tasks_die_of_is_written_down_and_printed_nowhere(
    capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    gc.collect()  # what earlier tests have left behind is not told here
    crash.keep_quiet()
    thread = threading.Thread(target=broken)
    thread.start()
    thread.join()
    asyncio.run(abandon())
    gc.collect()  # the task, if its thread still held it
    assert file.read_text().count("in broken\n") == 2
    assert capsys.readouterr() == ("", "")


async def abandon() -> None:
    """Leave a failed task whose result is never read."""
    task = asyncio.create_task(asyncio.to_thread(broken))
    await asyncio.wait({task})
    del task


def raised() -> RuntimeError:
    try:
        broken()
    except RuntimeError as error:
        return error
    raise AssertionError


def begin_log(path: Path) -> None:
    parser = argparse.ArgumentParser()
    LOG(parser)
    logs.start_log(parser.parse_args(["--log-file", str(path)]), "serve")


@pytest.mark.parametrize("words", [["info"], ["explain", "/api/v1/pods"], ["completion", "bash"]])
def test_a_full_disk_under_the_output_is_said(words: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "ktui", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "ktui: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("words", [["info"], ["explain", "/api/v1/pods"], ["completion", "bash"]])
def test_a_reader_that_has_gone_is_no_trouble(words: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ktui", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


INTERRUPTED = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "ktui.cli.effective_options":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from ktui.__main__ import main
sys.exit(main())
"""


def test_ctrl_c_while_the_program_loads_is_as_any_other() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
