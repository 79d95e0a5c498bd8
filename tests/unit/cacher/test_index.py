from __future__ import annotations

from cacher_model import obj
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher.index import MAX_ATTRIBUTES, AttributeIndex
from ktui.cacher.sorted_store import SortedStore

KEYS = [f"{ns}/{name}" for ns in "ab" for name in "xyz"]


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


def test_only_so_many_attributes_are_indexed():
    index = AttributeIndex(lambda one: one.labels)
    for number in range(MAX_ATTRIBUTES + 3):
        index.lookup(f"l{number}", "x", list)
    assert len(index.attributes) == MAX_ATTRIBUTES
    assert index.attributes[0] == "l3"
