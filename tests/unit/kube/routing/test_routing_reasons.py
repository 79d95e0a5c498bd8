"""Every rule has a sentence, and a place in docs/routing.md."""

from pathlib import Path

from ktui.kube.routing.reasons import GET_REASONS, LIST_REASONS, REASONS, WATCH_REASONS

PAGE = Path(__file__).parents[4] / "docs" / "routing.md"


def test_ids_are_unique() -> None:
    assert len(REASONS) == len(LIST_REASONS) + len(GET_REASONS) + len(WATCH_REASONS)


def test_the_page_tells_every_rule() -> None:
    page = PAGE.read_text("utf-8")
    missing = [id_ for id_, text in REASONS.items() if f"| `{id_}` | {text} |" not in page]
    assert not missing
