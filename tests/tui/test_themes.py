"""Themes come from files; a bad one is reported and skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.tui import themes

from .still import still_app

pytestmark = pytest.mark.anyio


def test_every_shipped_theme_loads_and_names_all_variables() -> None:
    found = themes.load_themes(themes.shipped_directory())
    assert not found.problems and themes.DEFAULT in found.by_name
    needed = set(themes.default_variables())
    for theme in found.by_name.values():
        assert needed <= set(theme.variables), theme.name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "bad.toml"),
        ('name = "x"\nprimary = "no colour"', "no colour"),
        ('name = "x"\nprimary = "#ffffff"\nfrobnicate = 1', "frobnicate"),
        ('name = "x"\nprimary = "#ffffff"\n[variables]\nline = 3', "in quotes"),
    ],
)
def test_a_bad_file_is_reported_and_skipped(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    found = themes.load_themes(tmp_path)
    assert not found.by_name and says in found.problems[0] and "bad.toml" in found.problems[0]


async def test_a_users_theme_is_found_and_a_broken_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    directory = tmp_path / "ktui" / "themes"
    directory.mkdir(parents=True)
    (directory / "mine.toml").write_text('name = "ktui-mine"\nprimary = "#336699"\n')
    (directory / "broken.toml").write_text("name =")
    app = still_app()
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("colon", *"theme ktui-mine", "enter")
        await pilot.pause()
        assert app.theme == "ktui-mine"
        assert any("broken.toml" in note.message for note in app._notifications)
