"""Items in pieces: the same text, and what objects have in common is held once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import builtin
from ktui.wire.codec import Codec, codec_for
from ktui.wire.encode import encode_object
from ktui.wire.pieces import Assembler
from ktui.wire.transcode_cache import OVERHEAD, Budget, PiecesCache, TranscodeCache
from tests.unit.wire.corpus import Golden, golden


@pytest.mark.parametrize("value", golden(), ids=lambda value: value.note)
def test_pieces_are_the_item(value: Golden) -> None:
    assert b"".join(Codec().item_pieces(value.raw, 4711)) == b"".join(
        codec_for().item_pieces(value.raw, 4711)
    )


@given(st.lists(st.binary(max_size=300)))
def test_assembling_changes_nothing(texts: list[bytes]) -> None:
    assembler = Assembler()
    for _ in range(2):
        assert b"".join(assembler.pieces(texts)) == b"".join(texts)


def test_equal_containers_of_pods_are_one() -> None:
    """From the second pod on: most of what is seen once is never seen again."""
    codec = Codec()
    _, first, second = (codec.item_pieces(_pod(name), 7) for name in ("a", "b", "c"))
    assert json.loads(b"".join(second))["metadata"]["name"] == "c"
    shared = {id(piece) for piece in first} & {id(piece) for piece in second}
    own = [piece for piece in second if id(piece) not in shared]
    assert sum(map(len, own)) < 200 < 2000 < sum(map(len, second))


def _pod(name: str) -> bytes:
    resource = builtin("", "pods")
    env = [{"name": f"VARIABLE_{number}", "value": "x" * 30} for number in range(30)]
    spec = {"containers": [{"name": "main", "image": "example.com/main:1", "env": env}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "spec": spec}
    return encode_object(pod, resource)


class Caches:
    """Two caches with one budget, and what they have computed."""

    def __init__(self, limit: int) -> None:
        self.budget = Budget(limit)
        self.made: list[bytes] = []
        self.one, self.other = TranscodeCache(self._make, self.budget), PiecesCache(self._pieces, self.budget)

    def _make(self, encoded: bytes) -> bytes:
        self.made.append(encoded)
        return encoded.upper()

    def _pieces(self, encoded: bytes) -> tuple[bytes, ...]:
        self.made.append(encoded)
        return encoded, encoded

    def kept(self) -> int:
        """The bytes in both caches."""
        return sum(
            len(key) + sum(map(len, (found,) if isinstance(found, bytes) else found)) + OVERHEAD
            for cache in (self.one, self.other)
            for entries in (cache, cache._older)
            for key, found in entries.items()
        )


def test_what_comes_twice_is_computed_twice_and_then_kept() -> None:
    caches = Caches(1 << 20)
    texts = [caches.one[b"abc"] for _ in range(4)]
    assert texts == [b"ABC"] * 4
    assert caches.made == [b"abc"] * 2
    assert texts[1] is texts[3]
    assert caches.other[b"abc"] == (b"abc", b"abc"), "each cache has its own entries"


def test_what_never_comes_again_is_hardly_ever_kept() -> None:
    caches = Caches(1 << 30)
    for number in range(100_000):
        caches.one[b"%d" % number]
    assert len(caches.one) < 100_000 * 0.2


@given(st.integers(2_000, 40_000), st.lists(st.integers(0, 300), max_size=400))
def test_no_more_is_kept_than_the_budget_allows(limit: int, numbers: list[int]) -> None:
    caches = Caches(limit)
    for number in numbers:
        for _ in range(2):
            assert caches.one[b"%d" % number] == b"%d" % number
            assert b"".join(caches.other[b"%d" % number]) == b"%d" % number * 2
        assert caches.kept() <= limit


def test_what_nothing_uses_is_forgotten_in_time() -> None:
    caches = Caches(1 << 20)
    for _ in range(2):
        for text in (b"hot", b"cold"):
            assert caches.one[text] and caches.other[text]
    held, forgotten = caches.budget.held, []
    for _ in range(3):
        forgotten.append(sum(caches.budget.age()))
        assert caches.one[b"hot"] == b"HOT"
    assert caches.made.count(b"hot") == 4, "two in each cache"
    assert forgotten[0] == 0 and forgotten[1] == held and 0 < forgotten[2] < held / 2
    assert b"cold" not in {**caches.one, **caches.one._older, **caches.other, **caches.other._older}
    for _ in range(2):
        list(caches.budget.age())
    assert caches.kept() == 0
    assert list(caches.budget.age()) == []


def test_what_an_overflow_made_older_is_forgotten_as_well() -> None:
    caches = Caches(10 * (OVERHEAD + 20))
    for number in range(20):
        for _ in range(2):
            caches.one[b"%d" % number]
    caches.budget.drop()
    assert caches.kept() > 0
    assert sum(caches.budget.age()) > 0
    assert caches.kept() == 0


def test_what_is_used_again_stays_when_the_rest_is_dropped() -> None:
    caches = Caches(100 * (OVERHEAD + 20))
    for number in range(1000):
        for _ in range(2):
            caches.one[b"%d" % number]
        caches.one[b"hot"]
    assert 1 <= caches.made.count(b"hot") <= 2, "once if its mark is another's"
