"""Watch caches as rows, and their objects as pages."""

from typing import Any

from ktui.contract.cache_documents import CachedObject, ObjectPage
from ktui.contract.events import CacheStatus
from ktui.core.state import CacheRow
from ktui.tui.cache.cache_columns import loaded_share, window
from ktui.tui.cache.contents import ObjectPages, Unread


def row(resource: str, state: str = "ready", **fields: Any) -> CacheRow:
    return CacheRow(CacheStatus(resource=resource, state=state, **fields), rv=fields.get("rv", 0))


def test_progress_is_a_share_only_when_the_total_is_known() -> None:
    caches = [
        row("a", "initializing", loaded=30, expected=120),
        row("b", "initializing", loaded=30),
        row("c", "reinitializing", loaded=130, expected=120),
        row("d", loaded=120, expected=120),
    ]
    assert [loaded_share(each.cache) for each in caches] == [0.25, None, 1.0, None]


def test_the_window_reaches_back_to_the_oldest_event() -> None:
    assert window(row("a", rv=100, oldest_rv=40)) == 60
    assert window(row("a", rv=100)) == 0


def page(first: int, count: int, total: int = 1000) -> ObjectPage:
    return ObjectPage("7", total, [CachedObject(name=str(first + n)) for n in range(count)])


def test_pages_know_what_they_lack() -> None:
    pages = ObjectPages(page_size=100)
    assert pages.missing(0, 50) == []  # nothing is known yet: the first page tells the total
    pages.put(0, page(0, 100))
    assert len(pages) == 1000
    assert pages.missing(50, 250) == [100, 200]
    assert pages.missing(950, 5000) == [900]
    assert pages[99] == CachedObject(name="99")
    assert pages[100] == Unread(index=100)


def test_a_page_is_asked_for_once() -> None:
    pages = ObjectPages(page_size=100)
    pages.put(0, page(0, 100))
    assert pages.begin(100)
    assert not pages.begin(100)
    assert pages.missing(0, 250) == [200]
    pages.fail(100)
    assert pages.missing(0, 250) == [100, 200]


def test_outdated_pages_show_until_they_are_read_again() -> None:
    pages = ObjectPages(page_size=100)
    pages.put(0, page(0, 100))
    pages.mark_stale()
    assert pages[0] == CachedObject(name="0")
    assert pages.missing(0, 10) == [0]


def test_pages_forget_the_oldest() -> None:
    pages = ObjectPages(page_size=100, keep=2)
    for first in (0, 100, 200):
        pages.put(first, page(first, 100))
    assert pages[0] == Unread(index=0)
    assert pages[200] == CachedObject(name="200")
