"""Plain words: `python -m tools.words` finds nothing, and its lists find what they name."""

from __future__ import annotations

import pytest

from tools.words import SHOWN_WORDS, WORDS, in_texts, of_keys, on_screens


def test_no_text_has_to_be_decoded() -> None:
    assert not (found := in_texts()), "\n".join(found)


def test_no_sentence_on_a_screen_has_to_be_decoded() -> None:
    assert not (found := on_screens()), "\n".join(found)


def test_the_labels_of_keys_are_plain() -> None:
    assert not of_keys()


@pytest.mark.parametrize(
    "text", ["is to be had", "Somebody wants", "begin anew", "the dearest", "told of as"]
)
def test_the_list_finds_what_it_names(text: str) -> None:
    assert WORDS.search(text)


@pytest.mark.parametrize("text", ["f fires the LIST", "since rv 5", "the event ring", "'x' is no revision"])
def test_the_list_for_screens_finds_what_it_names(text: str) -> None:
    assert SHOWN_WORDS.search(text)
