"""The recording format: what is written is read back, and what is newer is skipped."""

from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events import CacheStatus, EtcdProgress, EtcdUsage, RequestRouted, RouteStep
from ktui.contract.recording import (
    LineDecoder,
    decode_line,
    encode_lines,
)

EVENTS = [
    EtcdProgress(seq=1, at=1.5, head=48_213, compact=7),
    RequestRouted(
        seq=2,
        at=2.0,
        id=9,
        route="etcd",
        reason_id="d.unset",
        reason="…",
        steps=[RouteStep("rv?", "unset", True)],
    ),
    CacheStatus(seq=3, resource="pods", state="ready", rv=5, objects=3),
]


@given(st.lists(st.integers(min_value=1, max_value=40), max_size=8))
def test_chunks_of_any_size_give_the_same_events(cuts: list[int]) -> None:
    stream, decoder, events = encode_lines(EVENTS), LineDecoder(), []
    for cut in [*cuts, len(stream)]:
        events += decoder.feed(stream[:cut])
        stream = stream[cut:]
    assert events == EVENTS


def test_types_and_fields_of_a_newer_ktui_are_skipped() -> None:
    assert decode_line(b'{"type":"sharded_watch","shards":3}') is None
    line = b'{"type":"toll","rpcs":1,"sent_bytes":2,"received_bytes":3,"seconds":4}'
    assert decode_line(line) == EtcdUsage(rpcs=1, sent_bytes=2, received_bytes=3)
