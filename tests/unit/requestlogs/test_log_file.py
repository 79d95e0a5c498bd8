"""A log file is appended to, and rotated by its size."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ktui.requestlogs import log_writer
from ktui.requestlogs.log_writer import LogFile, Rotation


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"before\n")
    file = LogFile(path)
    file.write(b"after\n")
    file.close()
    assert path.read_bytes() == b"before\nafter\n"


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    LogFile(tmp_path / "audit.log").close()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


def test_a_full_file_is_rotated_and_old_ones_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    outdated, older = (tmp_path / f"audit-202{year}-01-01T00-00-00.000.log" for year in (1, 0))
    other = tmp_path / "audit-of-another.log"
    for old in (outdated, older, other):
        old.write_bytes(b"old")
    os.utime(outdated, (0, 0))
    path.write_bytes(b"x" * (1 << 20))
    file = LogFile(path, Rotation(megabytes=1, backups=2, days=30))
    file.write(b"new\n")
    file.close()
    assert path.read_bytes() == b"new\n"
    (rotated,) = set(tmp_path.iterdir()) - {path, other}
    assert re.fullmatch(r"audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log", rotated.name)
    assert rotated.stat().st_size == 1 << 20


def test_a_full_disk_leaves_no_broken_line(tmp_path: Path) -> None:
    """RLIMIT_FSIZE stands for the full disk; in a process of its own, which it limits as a whole."""
    path = tmp_path / "audit.log"
    program = """
import resource, signal, sys
from pathlib import Path
from ktui.requestlogs.log_writer import LogFile, PartlyWritten
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = LogFile(Path(sys.argv[1]))
file.write(b"first\\n")
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
for data in (b"second\\nthird, too long\\n", b"not even this fits\\n"):
    try:
        file.write(data)
    except PartlyWritten as error:
        print(error.lines, error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
file.write(b"fourth\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 File too large\n0 File too large\n"
    assert path.read_bytes() == b"first\nsecond\nfourth\n"


def test_a_file_that_cannot_be_rotated_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"x" * (1 << 20))
    file = LogFile(path, Rotation(megabytes=1))
    with monkeypatch.context() as patch:

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(log_writer, "_opened", full)
        with pytest.raises(OSError, match="No space"):
            file.write(b"lost\n")
    file.write(b"new\n")
    file.close()
    assert path.read_bytes() == b"new\n" and len(list(tmp_path.iterdir())) == 2


def test_a_directory_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Is a directory"):
        LogFile(tmp_path)
