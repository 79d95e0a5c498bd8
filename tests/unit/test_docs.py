"""The documentation hangs together: links, anchors, pictures, and a page for everything there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ktui.cli.main import COMMANDS
from ktui.tui.navigation.modes import MODES
from tools.screenshots import journey
from tools.screenshots.shots import pictures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
INDEX = DOCS / "index.md"
MODULES = {path.name for folder in ("ktui", "tests", "tools") for path in (ROOT / folder).rglob("*.py")}

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(r"`((?:ktui|tests|tools|benchmarks|docs|themes)/[\w./-]+)`")
_MODULE = re.compile(r"`(\w+\.py)`")  # named without its folder
_SPAN = re.compile(r"`[^`\n]*`")


def prose(page: Path) -> str:
    """What is no code."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Targets of links and pictures that are no addresses."""
    text = _SPAN.sub("code", prose(page))
    return [target for target in _LINK.findall(text) if "://" not in target]


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(prose(page))
    }


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{target}: no such file"
        assert not anchor or anchor in anchors(there), f"{target}: no such heading"


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_screen_has_a_page_with_its_picture_on_top(mode: object) -> None:
    page = DOCS / "screens" / f"{mode.name}.md"  # type: ignore[attr-defined]
    first = page.read_text(encoding="utf-8").split("\n\n")[1]
    assert f"screenshots/{page.stem}-120x40.svg" in first


@pytest.mark.parametrize("page", sorted((DOCS / "screens").glob("*.md")), ids=name)
def test_every_page_of_a_screen_begins_with_a_picture(page: Path) -> None:
    title, picture, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith("# ")
    assert picture.startswith("![")


@pytest.mark.parametrize("page", [page for page in PAGES if page != INDEX], ids=name)
def test_the_index_has_every_page(page: Path) -> None:
    assert str(page.relative_to(DOCS)) in {target.partition("#")[0] for target in links(INDEX)}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_index_and_the_readme_have_every_command(command: str) -> None:
    assert f"`ktui {command}`" in INDEX.read_text(encoding="utf-8")
    assert f"ktui {command}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_gallery_has_what_its_tool_draws_and_nothing_else() -> None:
    files = {picture.name: picture.stat().st_size for picture in (ROOT / "screenshots").iterdir()}
    assert set(files) == pictures() | {journey.FILE}
    assert max(files.values()) < 1_000_000, "too large for a page"
    assert sum(files.values()) < 13_000_000


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_file_of_the_source_that_is_named_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = _SOURCE.findall(text)
    assert [file for file in named if not (ROOT / file).exists()] == []
    assert set(_MODULE.findall(text)) <= MODULES


def test_links_and_anchors_are_found() -> None:
    assert "screens/overview.md" in links(INDEX)
    assert "ktui-recording" in anchors(DOCS / "recording.md")
