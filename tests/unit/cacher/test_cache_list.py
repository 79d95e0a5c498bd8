"""LIST from memory: what is returned, what it counts, where the next page starts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher.cache_list import CachePage, CacheQuery, list_from_cache
from ktui.cacher.errors import SnapshotGone
from ktui.cacher.sorted_store import SortedStore
from ktui.cacher.watch_cache import WatchCache
from ktui.kube.routing.parameters import RequestScope
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.storage.objects import StoredObject
from ktui.telemetry.meter import Meter, metered
from tests.unit.growth import steps

ROOT = "/registry/pods/"


@dataclass
class Pod:
    namespace: str
    name: str
    rv: int
    labels: dict[str, str]
    node: str = ""
    size: int = 1
    share: Any = None
    kept: int = 0

    def shrink(self, newer: Any) -> None:
        """Nothing to drop."""

    @property
    def key(self) -> str:
        return f"{ROOT}{self.namespace}/{self.name}"

    @property
    def fields(self) -> dict[str, str]:
        return {"spec.nodeName": self.node, "metadata.name": self.name, "metadata.namespace": self.namespace}

    def matches(self, selection: Any) -> bool:
        return selection.labels.matches(self.labels) and selection.fields.matches(self.fields)


@dataclass(frozen=True)
class Selectors:
    labels: LabelSelector
    fields: FieldSelector

    def select(self, pods: Any) -> list[Any]:
        return [pod for pod in pods if pod.matches(self)]


def cache_of(pods: list[Pod]) -> WatchCache:
    cache = WatchCache()
    cache.replace(sorted(pods, key=lambda pod: pod.key), rv=100)  # type: ignore[arg-type]
    return cache


PODS = [
    Pod("a", "p1", 1, {"app": "web"}, "n1"),
    Pod("a", "p2", 2, {"app": "db"}, "n1"),
    Pod("a", "p3", 3, {"app": "web"}, "n2"),
    Pod("b", "p1", 4, {"app": "web", "tier": "x"}, "n1"),
    Pod("b", "p2", 5, {}, ""),
]


def ask(
    cache: WatchCache, namespace: str = "", labels: str = "", fields: str = "", **more: Any
) -> tuple[CachePage, Meter]:
    selectors = Selectors(LabelSelector.parse(labels), FieldSelector.parse(fields))
    scope = RequestScope(namespace, "", False, False, bool(labels or fields), not (labels or fields))
    query = CacheQuery(scope, selectors, ROOT, pods=True, **more)  # type: ignore[arg-type]
    with metered(Meter()) as meter:
        return asyncio.run(list_from_cache(cache, query)), meter


def names(page: CachePage) -> list[str]:
    return [f"{one.namespace}/{one.name}" for one in page.objects]


@pytest.mark.parametrize(
    ("namespace", "labels", "fields", "minor", "expected", "fetched"),
    [
        ("", "", "", 36, ["a/p1", "a/p2", "a/p3", "b/p1", "b/p2"], 5),
        ("a", "", "", 36, ["a/p1", "a/p2", "a/p3"], 3),
        ("a", "", "", 30, ["a/p1", "a/p2", "a/p3"], 3),
        # Up to 1.29 nothing of the cache was found by its namespace.
        ("a", "", "", 29, ["a/p1", "a/p2", "a/p3"], 5),
        ("", "app=web", "", 36, ["a/p1", "a/p3", "b/p1"], 5),
        ("a", "app in (web,db),app!=db", "", 36, ["a/p1", "a/p3"], 3),
        ("", "nosuch=1", "", 36, [], 5),
        ("", "app", "", 36, ["a/p1", "a/p2", "a/p3", "b/p1"], 5),
        ("", "", "spec.nodeName=n1", 36, ["a/p1", "a/p2", "b/p1"], 3),
        ("b", "", "spec.nodeName=n1", 36, ["b/p1"], 1),
        # Up to 1.31 the index gave hits of all namespaces, filtered by prefix afterwards.
        ("b", "", "spec.nodeName=n1", 31, ["b/p1"], 3),
        ("", "", "spec.nodeName=", 36, ["b/p2"], 1),
        ("", "", "spec.nodeName!=n1", 36, ["a/p3", "b/p2"], 5),
    ],
)
def test_what_is_found_and_what_it_counts(namespace, labels, fields, minor, expected, fetched):
    page, meter = ask(cache_of(PODS), namespace, labels, fields, minor=minor)
    assert names(page) == expected
    assert (meter.fetched, meter.returned) == (fetched, len(expected))
    assert (page.rv, page.last_key, page.remaining) == (100, "", None)


def test_what_an_index_of_ktuis_own_skips_is_imputed() -> None:
    """kube-apiserver has no index of labels: it would have read the others too."""
    pods = [Pod("a", f"p{number}", number, {"app": f"a{number}"}, size=1_000) for number in range(10)]
    _, meter = ask(cache_of(pods), labels="app=a3")
    assert (meter.fetched, meter.evaluated, meter.cached_bytes, meter.imputed_bytes) == (10, 1, 10_000, 9_000)
    _, whole = ask(cache_of(pods))
    _, page = ask(cache_of(pods), limit=3)
    assert whole.imputed_bytes == page.imputed_bytes == 0


def test_a_label_that_no_object_has_costs_nothing():
    _, meter = ask(cache_of(PODS), labels="nosuch=1")
    assert meter.evaluated == 0


def test_pages_without_selectors_say_how_many_remain():
    page, meter = ask(cache_of(PODS), limit=2)
    assert (names(page), page.last_key, page.remaining) == (["a/p1", "a/p2"], f"{ROOT}a/p2", 3)
    assert (meter.fetched, meter.returned) == (5, 2)
    page, meter = ask(cache_of(PODS), limit=3, start=f"{page.last_key}\0")
    assert (names(page), page.last_key, page.remaining) == (["a/p3", "b/p1", "b/p2"], "", None)
    assert meter.fetched == 3


def test_objects_behind_a_full_page_count_as_references():
    large = [Pod("a", f"p{number}", number, {"app": "web"}, size=1_000) for number in range(1, 11)]
    page, meter = ask(cache_of(large), limit=2)
    assert (len(page.objects), meter.fetched) == (2, 10)
    assert meter.cached_bytes == 2 * 1_000 + 8 * 8
    assert ask(cache_of(large))[1].cached_bytes == 10_000
    assert ask(cache_of(large), limit=10)[1].cached_bytes == 10_000
    _, meter = ask(cache_of(large), labels="app=web", limit=20)
    assert meter.cached_bytes == 10_000, "the selector looked at all of them"


@pytest.mark.parametrize("exact", [None, 100])
def test_a_page_copies_no_more_than_itself(exact: int | None, monkeypatch: pytest.MonkeyPatch):
    copied = []
    slice_of = SortedStore.slice

    def slice_counted(*words: Any) -> list[StoredObject]:
        objects = slice_of(*words)
        copied.append(len(objects))
        return objects

    monkeypatch.setattr(SortedStore, "slice", slice_counted)
    cache = cache_of([Pod("a", f"p{number:05}", number, {}) for number in range(5_000)])
    page, _ = ask(cache, limit=10, exact=exact, start=f"{ROOT}a/p01000")
    assert names(page) == [f"a/p{number:05}" for number in range(1_000, 1_010)]
    assert (page.last_key, page.remaining) == (f"{ROOT}a/p01009", 3_990)
    assert copied == [11]


def test_a_page_with_a_selector_may_promise_an_empty_next_one():
    page, _ = ask(cache_of(PODS), labels="app=web", limit=3)
    assert (names(page), page.last_key, page.remaining) == (["a/p1", "a/p3", "b/p1"], f"{ROOT}b/p1", None)
    page, _ = ask(cache_of(PODS), labels="app=web", limit=3, start=f"{page.last_key}\0")
    assert (names(page), page.last_key) == ([], "")


def test_a_snapshot_that_is_gone_is_told():
    with pytest.raises(SnapshotGone):
        ask(cache_of(PODS), exact=99)


pods = st.builds(
    Pod,
    st.sampled_from("abc"),
    st.sampled_from(["p1", "p2", "p3", "p-4"]),
    st.integers(1, 99),
    st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"])),
    st.sampled_from(["", "n1", "n2"]),
)
LABELS = st.sampled_from(["", "app=x", "app in (x,y)", "app!=x", "!tier", "app=x,tier=y", "tier,app=y"])
FIELDS = st.sampled_from(["", "spec.nodeName=n1", "spec.nodeName=", "spec.nodeName!=n1,metadata.name=p1"])


@given(
    st.lists(pods, unique_by=lambda pod: pod.key),
    st.sampled_from(["", "a", "b"]),
    LABELS,
    FIELDS,
    st.integers(0, 3),
    st.booleans(),
)
def test_all_pages_together_are_what_a_plain_filter_finds(content, namespace, labels, fields, limit, exact):
    cache = cache_of(content)
    label_test, field_test = LabelSelector.parse(labels).matches, FieldSelector.parse(fields).matches
    wanted = [
        f"{pod.namespace}/{pod.name}"
        for pod in sorted(content, key=lambda pod: pod.key)
        if namespace in ("", pod.namespace) and label_test(pod.labels) and field_test(pod.fields)
    ]
    found, start = [], ""
    while True:
        page, _ = ask(
            cache, namespace, labels, fields, limit=limit, start=start, exact=100 if exact else None
        )
        found += names(page)
        if not page.last_key:
            break
        start = f"{page.last_key}\0"
    assert found == wanted


class Counted(list[Any]):
    """A list that counts the elements that slices, copies and loops take from it."""

    taken = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        Counted.taken += len(found) if isinstance(at, slice) else 1
        return found

    def __iter__(self) -> Any:
        Counted.taken += len(self)
        return super().__iter__()

    def copy(self) -> list[Any]:
        Counted.taken += len(self)
        return super().copy()


def page_work(count: int, **more: Any) -> tuple[int, int, int]:
    """The work of cutting a page of 500 of `count` pods, some of which changed: steps and elements taken."""
    cache = cache_of([Pod(f"n{i // 1000:03d}", f"p{i % 1000:03d}", i, {}) for i in range(count)])
    for number in range(10):
        cache.apply("MODIFIED", Pod("n000", f"p{number:03d}", 101 + number, {}), 101 + number)  # type: ignore[arg-type]
    cache.store._keys, cache.store._objects = Counted(cache.store._keys), Counted(cache.store._objects)
    query = CacheQuery(
        RequestScope("", "", False, False, False, True),
        Selectors(LabelSelector.parse(""), FieldSelector.parse("")),  # type: ignore[arg-type]
        ROOT,
        limit=500,
        pods=True,
        **more,
    )
    pages: list[CachePage] = []

    def cut() -> None:
        with pytest.raises(StopIteration) as done:
            list_from_cache(cache, query).send(None)
        pages.append(done.value.value)

    cut()
    Counted.taken = 0
    needed = steps(cut)
    assert pages[-1].remaining == count - 500 - (500 if more.get("start") else 0)
    return len(pages[-1].objects), needed, Counted.taken


@pytest.mark.parametrize("more", [{}, {"start": f"{ROOT}n000/p500"}, {"exact": 100}, {"exact": 105}], ids=str)
def test_the_work_of_a_page_does_not_depend_on_the_size_of_the_cache(more: dict[str, Any]) -> None:
    """But for binary searches: 25 times as many keys are five more steps of each."""
    (objects, needed, taken), large = page_work(2_000, **more), page_work(50_000, **more)
    assert objects == large[0] == 500
    assert taken <= large[2] <= taken + 30 < 700
    assert needed <= large[1] <= needed + 30 * 5
