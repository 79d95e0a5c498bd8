"""Directories of processes that are gone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from ktui.etcd.temporary_etcd import PREFIX, TemporaryEtcd, locked, sweep


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_directory_in_use_is_not_swept_an_abandoned_one_is() -> None:
    used, abandoned = TemporaryEtcd(), TemporaryEtcd()
    (abandoned.path / "data").mkdir()
    abandoned.release()
    assert locked(used.path / "lock") and not locked(abandoned.path / "lock")
    assert sweep() == [abandoned.path]
    assert used.path.exists() and not abandoned.path.exists()
    used.remove()
    used.remove()
    assert not used.path.exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}unlocked").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "lock").touch()
    assert sweep() == []
    assert (tmp_path / "other" / "lock").exists() and (tmp_path / f"{PREFIX}unlocked").exists()
