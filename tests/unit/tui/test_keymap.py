"""Bindings as they ship, and a user's keymap over them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen

from ktui.tui.keys.bindings import DIALOGS, SCOPES
from ktui.tui.keys.hints import keys_in, long_name, usable, valid_key
from ktui.tui.keys.keymap import check_keymap, scopes
from tests.tui.everything import load_screens, subclasses

# Bindings of a screen that hide one of the app's on purpose: what the app's one does there
# makes no sense (a screen without writes), or is reached by another key or a `:` command as well.
HIDDEN = {
    "audit.newer": "replay.faster",
    "audit.older": "replay.slower",
    "audit.rules": "rules",
    "cache.warm": "writes",
    "etcd.mark": "marker",
    "etcd.reveal": "record",
    "lab.page": "replay.mark_forward",
    "lab.pages": "object",
    "lab.compare": "restart",
    "lines.next": "replay.mark_forward",  # only while a text has the focus
    "lines.previous": "replay.mark_back",
}


def test_screens_and_widgets_bind_what_is_in_the_table() -> None:
    load_screens()
    table = [id(those) for those in (*SCOPES.values(), *DIALOGS.values())]
    ours = {each for each in subclasses(DOMNode) if each.__module__.startswith("ktui.tui.")}
    own = {each for each in ours if "BINDINGS" in vars(each) and not issubclass(each, App)}
    assert not [each.__name__ for each in own if id(each.BINDINGS) not in table]
    assert {id(each.BINDINGS) for each in own} == set(table) - {id(SCOPES["everywhere"])}
    dialogs = {id(each.BINDINGS) for each in own if issubclass(each, ModalScreen)}
    assert dialogs == {id(those) for those in DIALOGS.values()}


def test_every_binding_has_an_id_and_says_what_it_does() -> None:
    nameless = [(scope.name, b.key) for scope in scopes() for b in scope.bindings if not b.id]
    silent = [b.id for scope in scopes() for b in scope.bindings if not b.tooltip]
    assert not nameless and not silent
    assert len(scopes()) > 15, "all screens were looked at"


def test_ids_are_unique_in_each_scope_and_keys_too() -> None:
    for scope in scopes():
        ids = [binding.id for binding in scope.bindings]
        keys = [key for binding in scope.bindings for key in binding.key.split(",")]
        assert len(ids) == len(set(ids)), scope.name
        assert len(keys) == len(set(keys)), scope.name


def test_an_id_always_means_the_same_thing() -> None:
    about: dict[str, str] = {}
    for scope in scopes():
        for binding in scope.bindings:
            assert about.setdefault(binding.id or "", binding.action) == binding.action, binding.id


def test_every_id_is_in_the_documentation_with_its_keys() -> None:
    text = (Path(__file__).parents[3] / "docs" / "keys.md").read_text(encoding="utf-8")
    missing = [b.id for scope in scopes() for b in scope.bindings if f"| `{b.id}` | `" not in text]
    assert not missing


def test_every_dialog_is_left_by_escape_and_by_q() -> None:
    dialogs = [scope for scope in scopes() if scope.name in DIALOGS]
    keys = {scope.name: {key for b in scope.bindings for key in b.key.split(",")} for scope in dialogs}
    assert len(keys) > 8
    assert not [name for name, bound in keys.items() if not {"escape", "q"} <= bound]


def test_a_screen_hides_an_app_key_only_where_that_is_meant() -> None:
    found = {
        (binding.id, other.id)
        for scope in scopes()
        for binding in scope.bindings
        for other in scope.outer
        if keys_of(binding) & keys_of(other) and other.id != binding.id
    }
    assert found == set(HIDDEN.items())


def keys_of(binding: Binding) -> set[str]:
    return set(map(long_name, keys_in(binding.key)))


@pytest.mark.parametrize("key", ["f2", "ctrl+r", "?", "question_mark", "A", "space", "shift+left", "comma"])
def test_keys_that_there_are(key: str) -> None:
    assert valid_key(key)


@pytest.mark.parametrize("key", ["", "blub", "f99", "hold+r", ","])
def test_keys_that_there_are_not(key: str) -> None:
    assert not valid_key(key)


def test_a_good_keymap_has_no_problems() -> None:
    assert check_keymap({"go.requests": "f2", "filter": "ctrl+f,slash", "etcd.past": "P"}) == []


def test_an_unknown_id_is_said_with_what_may_be_meant() -> None:
    (problem,) = check_keymap({"go.requets": "f2"})
    assert problem.id == "go.requets"
    assert problem.text == "no key is called 'go.requets'; did you mean 'go.requests'?"


def test_a_key_that_no_terminal_sends_is_said_and_left_out() -> None:
    assert check_keymap({"help": "blub"}) == [
        (
            "help",
            "key 'blub' for 'help': there is no such key; write it like x, f2, ctrl+r or question_mark",
        )
    ]
    assert usable({"help": "blub", "sort": "f3"}) == {"sort": "f3"}


def test_a_clash_is_said_once_with_both_names() -> None:
    (problem,) = check_keymap({"filter": "f2", "sort": "f2"})
    assert problem.id == "filter"
    assert problem.text == (
        "key 'f2' for 'filter' is bound to 'sort' (everywhere) as well: "
        "only one of them can act; give one another key"
    )
    (hidden,) = check_keymap({"etcd.past": "w"})
    assert "'etcd.past' is bound to 'writes' (etcd)" in hidden.text


def test_a_swap_of_two_keys_is_no_clash() -> None:
    assert check_keymap({"rules": "T", "theme": "V", "audit.rules": "v", "audit.versions": "V"}) != []
    assert check_keymap({"sort": "S", "sort.turn": "s"}) == []
