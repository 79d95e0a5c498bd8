"""Keys as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.storage.keys import key_bytes, key_text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (b"/registry/pods/a/b", "/registry/pods/a/b"),
        ("/café/✓".encode(), "/café/✓"),
        (b"\xff\x00a", "\\xff\x00a"),
        (b"a\\xff", "a\\\\xff"),
    ],
)
def test_keys_are_readable(key: bytes, text: str) -> None:
    assert key_text(key) == text
    assert key_bytes(text) == key


@given(st.binary(max_size=40))
def test_every_key_has_its_own_text(key: bytes) -> None:
    assert key_bytes(key_text(key)) == key
