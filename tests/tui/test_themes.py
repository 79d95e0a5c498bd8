"""Themes come from files, say only what they change, and follow their files as they are edited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ktui.config.places import shipped_themes
from ktui.tui.app import KtuiApp
from ktui.tui.looks import themes
from ktui.tui.preferences import Preferences

from .still import NORMAL, demo_events, still_app

pytestmark = pytest.mark.anyio


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's directory of themes."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    directory = tmp_path / "ktui" / "themes"
    directory.mkdir(parents=True)
    return directory


def write(path: Path, text: str) -> None:
    """As an editor does, and never within the same tick of the file system's clock."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    if path.stat().st_mtime_ns <= before:
        os.utime(path, ns=(before + 1, before + 1))


def test_every_shipped_theme_loads_and_names_all_variables() -> None:
    found = themes.load_themes(shipped_themes())
    assert not found.problems and len(found.by_name) == 6 and themes.DEFAULT in found.by_name
    needed = set(themes.default_variables())
    for theme in found.by_name.values():
        assert needed <= set(theme.variables), theme.name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name =\nx = 1", "line 1"),
        ('name = "x"\n\nprimary = "no colour"', "line 3: primary: 'no colour' is not a colour"),
        ('name = "x"\nprimary = "#ffffff"\nfrobnicate = 1', "line 3: there is no key 'frobnicate'"),
        ('primary = "#ffffff"\n[variables]\nline = 3', "line 3: line must be a colour in quotes"),
        ('primary = "#ffffff"\ndark = "yes"', "line 2: dark = 'yes' is of the wrong kind"),
        ('variables = "#ffffff"', "line 1: [variables] is a table"),
        ('inherits = "nobody"', "line 1: there is no theme 'nobody'"),
        ('name = "x"\ninherits = "x"\n', "at least a primary colour"),
        ("name = 3", "line 1: name must be a string in quotes"),
        ("\xff", "not UTF-8 text"),
    ],
)
def test_a_bad_file_is_reported_with_its_line_and_skipped(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.toml").write_text(text, encoding="latin-1")
    found = themes.load_themes(tmp_path)
    assert not found.by_name
    assert found.problems[0].startswith("theme bad.toml") and says in found.problems[0]


def test_a_theme_says_only_what_it_changes(own: Path) -> None:
    (own / "mine.toml").write_text('inherits = "ktui-light"\nsurface = "#ffeedd"\n')
    (own / "deeper.toml").write_text('inherits = "mine"\n[variables]\nroute-etcd = "#883300"\n')
    (own / "pale.toml").write_text("dark = false\n")
    (own / "bare.toml").write_text('accent = "#ffffff"\n')
    found = themes.load_themes(shipped_themes(), own).by_name
    light, mine, deeper = found["ktui-light"], found["mine"], found["deeper"]
    assert (mine.surface, mine.primary, mine.dark) == ("#ffeedd", light.primary, False)
    assert mine.variables["footer-background"] == "#ffeedd"  # Textual's parts follow
    assert (deeper.surface, deeper.variables["route-etcd"]) == ("#ffeedd", "#883300")
    assert found["pale"].background == light.background
    assert found["bare"].background == found[themes.DEFAULT].background


def test_a_shipped_theme_can_be_changed_under_its_own_name(own: Path) -> None:
    (own / "dark.toml").write_text('name = "ktui-dark"\nprimary = "#123456"\n')
    (own / "a.toml").write_text('inherits = "b"\n')
    (own / "b.toml").write_text('inherits = "a"\n')
    found = themes.load_themes(shipped_themes(), own)
    assert found.by_name["ktui-dark"].primary == "#123456"
    assert (
        found.by_name["ktui-dark"].surface
        == themes.load_themes(shipped_themes()).by_name["ktui-dark"].surface
    )
    assert len(found.problems) == 2 and "inherits from itself" in found.problems[0]


async def test_a_users_theme_is_found_and_a_broken_one_is_told(own: Path) -> None:
    write(own / "mine.toml", 'primary = "#336699"\n')
    write(own / "broken.toml", "name =")
    app = still_app()
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("colon", *"theme mine", "enter")
        await pilot.pause()
        assert app.theme == "mine"
        assert any("broken.toml" in note.message for note in app._notifications)


async def test_an_edited_theme_repaints(own: Path) -> None:
    write(own / "mine.toml", 'background = "#000000"\n')
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        app.theme = "mine"
        await pilot.pause()
        assert app.screen.styles.background.hex6 == "#000000"
        write(own / "mine.toml", 'background = "#ffffff"\n')
        app.reload_themes()
        await pilot.pause()
        assert app.screen.styles.background.hex6 == "#FFFFFF"
        assert not app._notifications
        write(own / "mine.toml", 'background = "#ffffff"\naccent = "beige-ish"\n')
        app.reload_themes()
        await pilot.pause()
        told = [note.message for note in app._notifications]
        assert told == ["theme mine.toml line 2: accent: 'beige-ish' is not a colour"]
        assert app.theme == "mine" and app.screen.styles.background.hex6 == "#FFFFFF"
        app.reload_themes()  # said once, not every second
        assert len(app._notifications) == 1


async def test_a_new_theme_can_be_put_on_and_a_removed_one_stays_on(own: Path) -> None:
    app = still_app()
    async with app.run_test() as pilot:
        write(own / "new.toml", 'background = "#201000"\n')
        app.reload_themes()
        await pilot.press("colon", *"theme new", "enter")
        await pilot.pause()
        assert app.theme == "new"
        (own / "new.toml").unlink()
        app.reload_themes()
        await pilot.pause()
        assert app.theme == "new" and "new" in [theme.name for theme in app.own_themes]
        app.theme = themes.DEFAULT
        app.reload_themes()
        write(own / "other.toml", "")
        app.reload_themes()
        assert "new" not in app.available_themes and "other" in app.available_themes


async def test_the_files_are_looked_at_while_the_dashboard_runs(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ktui.tui.dashboard.WATCH_INTERVAL", 0.02)
    app = KtuiApp()
    async with app.run_test() as pilot:
        write(own / "late.toml", "")
        while "late" not in app.available_themes:  # pytest's timeout ends it
            await pilot.pause(0.01)


async def test_a_theme_that_is_not_there_is_told() -> None:
    app = KtuiApp(start_timers=False, preferences=Preferences(theme="ktui-drak"))
    async with app.run_test(notifications=True) as pilot:
        await pilot.pause()
        assert app.theme == themes.DEFAULT
        assert [note.message for note in app._notifications] == [
            "there is no theme 'ktui-drak'; :theme lists them"
        ]
