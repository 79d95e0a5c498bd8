"""Initial events: where they end, however the stream is cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ktui.client.measure import InitialEvents

ADDED = b'{"type":"ADDED","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
BOOKMARK = b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7"}}}\n'
END = (
    b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"42",'
    b'"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
)
LATER = b'{"type":"MODIFIED","object":{}}\n'


@given(st.integers(0, 5), st.lists(st.integers(0, 900), max_size=6))
def test_objects_are_counted_up_to_the_bookmark_that_ends_them(count: int, cuts: list[int]) -> None:
    stream = ADDED * count + BOOKMARK + END + LATER
    events = InitialEvents()
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for low, high in pairwise(edges):
        events.feed(stream[low:high])
    assert events.complete()
    assert events.items == count
    assert events.envelope().metadata.resource_version == "42"


def test_a_stream_that_breaks_off_is_not_complete() -> None:
    events = InitialEvents()
    events.feed(ADDED + BOOKMARK + END[:-10])
    assert not events.complete()
    assert events.items == 1


def test_an_error_event_ends_it_with_its_message() -> None:
    events = InitialEvents()
    events.feed(b'{"type":"ERROR","object":{"kind":"Status","message":"too old","code":410}}\n')
    assert events.complete()
    assert events.envelope().message == "too old"


def test_a_refusal_is_no_event() -> None:
    for ending in (b"", b"\n"):
        events = InitialEvents()
        events.feed(b'{"kind":"Status","metadata":{},"message":"forbidden","code":422}' + ending)
        assert events.items == 0
        assert events.envelope().message == "forbidden"
