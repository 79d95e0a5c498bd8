"""Continue tokens."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube import continuetoken
from ktui.kube.golang.formatting import clean
from ktui.kube.status import StatusError

_SEGMENTS = st.text(alphabet="abz09.-:<&>\u2028é\0", min_size=1, max_size=8)


def _token(document: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def test_to_the_letter() -> None:
    token = continuetoken.encode(100, "pod-b\0")
    plain = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    assert plain == b'{"v":"meta.k8s.io/v1","rv":100,"start":"pod-b\\u0000"}'
    assert continuetoken.decode(token) == (100, "pod-b\0")


def test_a_leading_slash_is_dropped() -> None:
    assert continuetoken.decode(continuetoken.encode(-1, "/shop/x\0")) == (-1, "shop/x\0")


def test_half_a_surrogate_pair_becomes_a_character() -> None:
    token = _token({"v": "meta.k8s.io/v1", "rv": 5, "start": "a\ud800b\0"})
    start = continuetoken.decode(token).start
    assert start == "a\ufffdb\0"
    start.encode()


@given(st.integers(-(2**63), 2**63 - 1).filter(bool), st.lists(_SEGMENTS, min_size=1, max_size=3))
def test_round_trip(rv: int, segments: list[str]) -> None:
    start = "/".join(segments)
    token = continuetoken.encode(rv, start)
    if clean("/" + start) == "/" + start:
        assert continuetoken.decode(token) == (rv, start)
    else:
        with pytest.raises(StatusError):
            continuetoken.decode(token)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("garbage!", "illegal base64 data at input byte 7"),
        ("bm90IGpzb24", "invalid character 'o' in literal null (expecting 'u')"),
        ("", "unexpected end of JSON input"),
        ("e30", "server does not recognize this encoded version "),
        (_token({"v": "meta.k8s.io/v2", "rv": 1, "start": "a"}),
         "server does not recognize this encoded version meta.k8s.io/v2"),
        (_token({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}),
         "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (_token({"v": "meta.k8s.io/v1", "rv": 5}), "encoded start key empty (version meta.k8s.io/v1)"),
        (_token({"v": "meta.k8s.io/v1", "rv": 5, "start": "../secrets/a"}), "../secrets/a"),
        (_token({"v": "meta.k8s.io/v1", "rv": 5, "start": "//a"}), "//a"),
        (_token({"v": "meta.k8s.io/v1", "rv": 5, "start": "a/"}), "a/"),
        (_token({"v": "meta.k8s.io/v1", "rv": "5", "start": "a"}),
         "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
        (_token({"v": "meta.k8s.io/v1", "rv": 1.5, "start": "a"}),
         "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"),
        (_token({"v": "meta.k8s.io/v1", "rv": 5, "start": 7}),
         "json: cannot unmarshal number into Go struct field continueToken.start of type string"),
        (_token([1]), "json: cannot unmarshal array into Go value of type storage.continueToken"),
    ],
)  # fmt: skip
def test_errors(token: str, why: str) -> None:
    with pytest.raises(StatusError) as error:
        continuetoken.decode(token)
    assert error.value.code == 400
    assert error.value.message == f"invalid continue token: continue key is not valid: {why}"


@given(st.text(max_size=60))
def test_any_text_is_a_token_or_a_400(text: str) -> None:
    with pytest.raises(StatusError) as error:
        continuetoken.decode(text)
    assert error.value.code == 400


@given(st.integers(0, 70), st.characters(codec="ascii"))
def test_a_damaged_token_never_leaves_the_prefix(at: int, damage: str) -> None:
    token = continuetoken.encode(1620, "shop/web-1\0")
    at %= len(token)
    try:
        _, start = continuetoken.decode(token[:at] + damage + token[at + 1 :])
    except StatusError as error:
        assert error.code == 400
    else:
        assert clean("/" + start) == "/" + start


def test_a_slash_is_the_beginning_and_still_a_token() -> None:
    assert continuetoken.decode(continuetoken.encode(7, "/")).start == "\0"
