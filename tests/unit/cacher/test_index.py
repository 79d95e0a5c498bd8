from __future__ import annotations

import asyncio

from cacher_model import obj
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher import watch_cache as index_module
from ktui.cacher.sorted_store import SortedStore
from ktui.cacher.watch_cache import MAX_ATTRIBUTES, AttributeIndex

KEYS = [f"{ns}/{name}" for ns in "ab" for name in "xyz"]


STEPS = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(["", "1", "2", "none"])))


@given(
    st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(["", "1", "2", "none"]))), st.integers(0, 20)
)
def test_store_and_index_agree_with_a_plain_dictionary(steps, ask_after):
    store, index, model = SortedStore(), AttributeIndex(lambda one: one.labels), {}
    for number, (key, value) in enumerate(steps):
        if number == ask_after:
            index.lookup("v", "1", store.all)
        if value == "":
            previous, current = store.remove(key), None
            assert previous is model.pop(key, None)
        else:
            current = obj(key, number, **({} if value == "none" else {"v": value}))
            previous, model[key] = store.put(current), current
        index.change(previous, current)
    assert [one.key for one in store.all()] == sorted(model)
    assert store.slice("a/", "a0") == [model[key] for key in sorted(model) if key.startswith("a/")]
    assert store.bytes == len(model)
    for value in ("1", "2"):
        wanted = {key: one for key, one in model.items() if one.labels.get("v") == value}
        assert dict(index.lookup("v", value, store.all)) == wanted


@given(STEPS, STEPS)
def test_changes_while_the_postings_are_made_in_slices_are_not_lost(before, meanwhile):
    store, index = SortedStore(), AttributeIndex(lambda one: one.labels)

    def play(steps, base):
        for number, (key, value) in enumerate(steps):
            if value == "":
                previous, current = store.remove(key), None
            else:
                current = obj(key, base + number, **({} if value == "none" else {"v": value}))
                previous = store.put(current)
            index.change(previous, current)

    async def run():
        play(before, 0)
        middle = len(meanwhile) // 2
        monkey = index_module.sliced

        async def parts(items):
            items = list(items)
            half = len(items) // 2
            yield items[:half]
            play(meanwhile[:middle], 100)
            yield items[half:]
            play(meanwhile[middle:], 200)

        index_module.sliced = parts
        try:
            await index.prepare("v", store.all)
        finally:
            index_module.sliced = monkey

    asyncio.run(run())
    assert index.attributes == ("v",)
    for value in ("1", "2"):
        wanted = {one.key: one for one in store.all() if one.labels.get("v") == value}
        assert dict(index.lookup("v", value, list)) == wanted


def test_the_number_of_indexed_attributes_is_limited():
    index = AttributeIndex(lambda one: one.labels)
    for number in range(MAX_ATTRIBUTES + 3):
        index.lookup(f"l{number}", "x", list)
    assert len(index.attributes) == MAX_ATTRIBUTES
    assert index.attributes[0] == "l3"
