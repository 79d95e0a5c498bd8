"""Bytes of a document as Go's encoder writes them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.golang.formatting import to_json


def test_what_html_and_javascript_stumble_over_is_escaped() -> None:
    assert to_json({"a": "<nil> & \u2028\u2029é"}) == (
        b'{"a":"\\u003cnil\\u003e \\u0026 \\u2028\\u2029' + "é".encode() + b'"}'
    )


@given(st.dictionaries(st.text(), st.text()))
def test_it_reads_back_as_what_it_was(value: dict[str, str]) -> None:
    assert json.loads(to_json(value)) == value
