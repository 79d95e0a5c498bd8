"""Files for their owner only, whatever was there before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ktui.private_file import open_private


def write(path: Path) -> None:
    with os.fdopen(open_private(path, os.O_TRUNC), "w") as file:
        file.write("new")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("before", [None, 0o666, 0o644, 0o400])
def test_only_its_owner_can_read_a_file(before: int | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.touch(before)
    if before == 0o400 and os.geteuid() != 0:
        with pytest.raises(PermissionError):
            write(path)
        return
    write(path)
    assert (path.read_text(), mode(path)) == ("new", 0o600)


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_not_followed(there: bool, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if there:
        target.write_text("mine")
    link.symlink_to(target)
    with pytest.raises(OSError, match="it is a symbolic link, name the file itself"):
        write(link)
    assert (target.read_text() == "mine") if there else not target.exists()


def test_a_pipe_keeps_its_mode(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o622)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    before = mode(pipe)
    write(pipe)
    assert mode(pipe) == before
    os.close(reader)
