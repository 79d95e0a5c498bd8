"""Lines typed are kept, privately, and found again."""

from __future__ import annotations

from pathlib import Path

from ktui.tui.memory import KEPT, LineHistory


def test_lines_come_back_in_another_run(tmp_path: Path) -> None:
    path = tmp_path / "state" / "commands-history"
    history = LineHistory("commands", path)
    for line in ("pods", "etcd /registry/", "pods", " "):
        history.add(line)
    assert LineHistory("commands", path).lines == ["etcd /registry/", "pods"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert LineHistory("filters", tmp_path / "other").lines == []


def test_two_dashboards_do_not_forget_each_others_lines(tmp_path: Path) -> None:
    one, other = (LineHistory("commands", tmp_path / "history") for _ in range(2))
    one.add("pods")
    assert other.lines == ["pods"]
    one.add("nodes")
    other.add("leases")
    assert LineHistory("commands", tmp_path / "history").lines == ["pods", "nodes", "leases"]


def test_it_is_bounded_and_never_holds_control_characters(tmp_path: Path) -> None:
    history = LineHistory("commands", tmp_path / "history")
    for number in range(KEPT + 5):
        history.add(f"request {number}")
    history.add("a\x1b[31m")
    lines = LineHistory("commands", tmp_path / "history").lines
    assert len(lines) == KEPT and lines[-1] == f"request {KEPT + 4}"


def test_walking_comes_back_to_what_was_being_typed(tmp_path: Path) -> None:
    history = LineHistory("commands", tmp_path / "history")
    for line in ("kube 1.30", "pods"):
        history.add(line)
    history.begin()
    older = [history.browse(shown, 1) for shown in ("no", "pods", "kube 1.30")]
    newer = [history.browse(shown, -1) for shown in ("kube 1.30", "pods", "no")]
    assert older == ["pods", "kube 1.30", None]
    assert newer == ["pods", "no", None]
    assert not history.browsing


def test_a_place_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = LineHistory("commands", tmp_path / "file" / "history")
    history.add("pods")
    history.add("nodes")
    assert history.lines == ["pods", "nodes"]
