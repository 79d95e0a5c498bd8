"""The prefix tree opens lazily."""

from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.tui.etcd.tree_pane import PrefixTree


def page(parent: str, *names: str, leaf: bool = False) -> PrefixPage:
    return PrefixPage(revision=9, children=[PrefixChild(f"{parent}{name}", leaf=leaf) for name in names])


def tree() -> PrefixTree:
    tree = PrefixTree("/registry/")
    assert tree.begin("/registry/")
    tree.put("/registry/", page("/registry/", "nodes/", "pods/"))
    return tree


def shown(tree: PrefixTree) -> list[str]:
    return [f"{'  ' * row.depth}{row.sign} {row.label}" for row in tree.rows()]


def test_children_show_once_they_have_been_read() -> None:
    prefixes = tree()
    assert shown(prefixes) == ["▸ nodes/", "▸ pods/"]
    assert prefixes.begin("/registry/pods/")
    assert shown(prefixes) == ["▸ nodes/", "… pods/"]
    prefixes.put("/registry/pods/", page("/registry/pods/", "a/", "b/", leaf=True))
    assert shown(prefixes) == ["▸ nodes/", "▾ pods/", "  · a/", "  · b/"]
    assert prefixes.parent_of("/registry/pods/a/") == "/registry/pods/"
    assert prefixes.parent_of("/registry/pods/") is None


def test_an_opened_prefix_is_read_once() -> None:
    prefixes = tree()
    assert prefixes.begin("/registry/pods/")
    assert not prefixes.begin("/registry/pods/")  # still being read
    prefixes.put("/registry/pods/", page("/registry/pods/", "a/"))
    prefixes.close("/registry/pods/")
    assert shown(prefixes) == ["▸ nodes/", "▸ pods/"]
    assert not prefixes.begin("/registry/pods/")
    assert shown(prefixes) == ["▸ nodes/", "▾ pods/", "  ▸ a/"]


def test_a_failure_is_shown_and_can_be_tried_again() -> None:
    prefixes = tree()
    prefixes.begin("/registry/pods/")
    prefixes.fail("/registry/pods/", "etcd is away")
    assert shown(prefixes) == ["▸ nodes/", "! pods/"]
    assert prefixes.begin("/registry/pods/")


def test_rows_that_have_not_changed_are_equal() -> None:
    prefixes = tree()
    before = prefixes.rows()
    prefixes.begin("/registry/pods/")
    after = prefixes.rows()
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_old_rows_show_until_the_refreshed_ones_have_come() -> None:
    prefixes = tree()
    prefixes.mark_stale()
    assert prefixes.begin("/registry/") and not prefixes.begin("/registry/"), "asked once"
    assert shown(prefixes) == ["▸ nodes/", "▸ pods/"]
    prefixes.put("/registry/", page("/registry/", "pods/"))
    assert shown(prefixes) == ["▸ pods/"]
    assert not prefixes.begin("/registry/")


def test_it_is_as_old_as_the_oldest_branch_that_shows() -> None:
    prefixes = tree()
    prefixes.begin("/registry/pods/")
    prefixes.put("/registry/pods/", PrefixPage(revision=700, children=[]))
    assert prefixes.revision == 9, "the counts of its first level"
    prefixes.mark_stale()
    prefixes.begin("/registry/")
    prefixes.put("/registry/", PrefixPage(revision=800, children=page("/registry/", "pods/").children))
    assert prefixes.revision == 700
    prefixes.close("/registry/pods/")
    assert prefixes.revision == 800
    assert PrefixTree("/registry/").revision == 0
