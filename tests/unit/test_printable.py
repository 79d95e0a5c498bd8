"""Text of others, made harmless three ways; and what counts as harmless."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ktui.printable import MOST_MARKS, escaped, is_mark, is_safe, json_escaped, safe, with_few_marks

MARK = "\u0301"
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# What has been used to control or to deceive, and letters beside it.
NASTY = st.text(
    st.one_of(
        st.sampled_from("\x00\x07\x08\t\n\r\x1b\x7f\x80\x9b\x9d\u200b\u200d\u200f\u202e\u2028\u2066\ufeff"),
        st.sampled_from("\u0301\u0300\u20dd\ufe0f\u3164\u115f\u1160\U0001f3fb\U000e0041\ue000\ud800\xad"),
        st.sampled_from("aé世界👨 ][;5"),
        st.characters(),
    )
)


def categories(text: str) -> set[str]:
    return {unicodedata.category(char) for char in text}


def longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if is_mark(char) else 0
        longest = max(longest, run)
    return longest


@given(NASTY)
def test_nothing_unsafe_is_left(text: str) -> None:
    for made in (safe(text), escaped(text)):
        assert not categories(made) & UNSAFE
        assert longest_run(made) <= MOST_MARKS
        assert is_safe(made) or " " in categories(made) or "Zs" in categories(made)


@given(NASTY)
def test_safe_text_is_left_as_it_is(text: str) -> None:
    if is_safe(text):
        assert safe(text) == escaped(text) == with_few_marks(text) == text
        assert not categories(text) & UNSAFE and longest_run(text) <= MOST_MARKS


@given(NASTY)
def test_what_is_kept_is_kept(text: str) -> None:
    assert escaped(text, "\n\t").count("\n") == text.count("\n")


@given(NASTY)
def test_escaped_json_is_the_same_document(text: str) -> None:
    document = {text: [text]}
    written = json_escaped(json.dumps(document, ensure_ascii=False, indent=1))
    assert json.loads(written) == document
    assert not categories(written.replace("\n", "")) & UNSAFE


def test_every_character_that_takes_no_cell_counts_as_a_mark() -> None:
    """Printable and without a cell: a screen would be told to draw thousands of them into one."""
    free = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isprintable()]
    assert [hex(ord(char)) for char in free if cell_len(char) == 0 and not is_mark(char)] == []
    assert [char for char in free if is_mark(char) and is_safe(char * (MOST_MARKS + 1))] == []


@pytest.mark.parametrize(
    ("text", "on_screens", "in_lines"),
    [
        ("plain", "plain", "plain"),
        ("a\x1b[31mb", "a␛[31mb", "a\\x1b[31mb"),
        ("\x7f\x9b", "␡⟨U+009B⟩", "\\x7f\\x9b"),
        ("\u202e", "⟨U+202E⟩", "\\u202e"),
        (f"e{MARK * 10_000}x", f"e{MARK * 4}⟨9,996 marks⟩x", f"e{MARK * 4}⟨9,996 marks⟩x"),
        ("नमस्ते สวัสดี שָׁלוֹם 👍🏽", "नमस्ते สวัสดี שָׁלוֹם 👍🏽", "नमस्ते สวัสดี שָׁלוֹם 👍🏽"),
    ],
)
def test_how_it_reads(text: str, on_screens: str, in_lines: str) -> None:
    assert (safe(text), escaped(text)) == (on_screens, in_lines)
