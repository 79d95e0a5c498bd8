"""What is shown of a Secret until its values are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec.json
import pytest

from ktui.apiserver.pages.etcd import MASK, describe, redact

from .test_pages import stored


def text_of(document: Any) -> str:
    return msgspec.json.encode(document).decode()


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "labels": {"app": "shop"}},
    "type": "Opaque",
    "data": {"p": "hunter"},
}


def test_what_a_secret_is_called_is_shown() -> None:
    shown, withheld = redact(SECRET)
    assert (shown, withheld) == ({**SECRET, "data": {"p": MASK}}, True)


@pytest.mark.parametrize(
    "change",
    [
        {"stringData": {"p": "hunter"}},
        {"data": ["hunter"]},
        {"data": "hunter"},
        {"data": {"p": {"q": ["hunter"]}}},
        {"stringData": [{"p": "hunter"}]},
        {"Data": {"p": "hunter"}},
        {"binaryData": {"p": "hunter"}},
        {"type": ["hunter"]},
        {"immutable": "hunter"},
        {"metadata": ["hunter"]},
        {"metadata": {"data": {"p": "hunter"}}},
        {"metadata": {"name": {"p": "hunter"}}},
        {"metadata": {"annotations": "hunter"}},
        {"metadata": {"annotations": {"a": ["hunter"]}}},
        {"metadata": {"annotations": {LAST_APPLIED: '{"data":{"p":"hunter"}}'}}},
        {"metadata": {"annotations": {"kapp.k14s.io/original": "kind: Secret\ndata:\n  p: hunter\n"}}},
        {"metadata": {"annotations": {LAST_APPLIED: "hunter"}}},
        {"metadata": {"annotations": {"a": '[{"p":"hunter"}]'}}},
        {"metadata": {"annotations": {"a": "kind: Secret\nstringData:\n  p: hunter\n"}}},
        {"metadata": {"labels": {"a": {"b": "hunter"}}}},
        {"metadata": {"finalizers": [{"b": "hunter"}]}},
        {"items": [{"data": {"p": "hunter"}}]},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda secret: secret,
        lambda secret: {"kind": "List", "items": [{"kind": "Pod"}, secret]},
        lambda secret: {"kind": "SecretList", "items": [{**secret, "kind": "", "apiVersion": ""}]},
        lambda secret: {"kind": "SecretList", "items": {"a": secret}},
        lambda secret: [secret],
        lambda secret: {"kind": "Template", "objects": [{"raw": secret}]},
    ],
    ids=["itself", "List", "SecretList", "odd SecretList", "array", "embedded"],
)
def test_no_value_of_a_secret_is_shown(change: dict[str, Any], wrap: Callable[[dict[str, Any]], Any]) -> None:
    document = wrap({**SECRET, **change})
    for key in ("/registry/secrets/shop/s", "/registry/others/shop/s"):
        shown = describe(stored(key=key, kind="", json=document), None, reveal=False)
        assert shown.redacted is True
        assert "hunter" not in text_of(shown) and b"hunter".hex() not in text_of(shown)


@pytest.mark.parametrize(
    "document", ["hunter", ["hunter"], {"p": "hunter"}, 7, {"kind": "Pod", "spec": "hunter"}]
)
def test_what_lies_among_secrets_is_one(document: Any) -> None:
    shown = describe(stored(kind="", json=document), None, reveal=False)
    assert shown.redacted is True and "hunter" not in text_of(shown) and "7" not in str(shown.json)


def test_what_is_deeper_than_can_be_looked_at_is_withheld() -> None:
    deep: Any = SECRET
    for _ in range(2_000):
        deep = [deep]
    assert redact(deep) == (MASK, True)


@pytest.mark.parametrize(
    "raw", [b'{"kind": "Secret", "data": {"p": "hunter"', b"k8s\x00\n\x0c\n\x02v1\x12\x06Secret\xffhunter"]
)
def test_what_cannot_be_decoded_and_may_be_a_secret_is_withheld(raw: bytes) -> None:
    shown = describe(stored(key="/registry/others/a", kind="", json=None, raw=raw), None, reveal=False)
    assert (shown.redacted, shown.hex, shown.text != "") == (True, "", False)


def test_what_is_no_secret_is_shown_whole() -> None:
    for document in ({"kind": "Pod", "spec": {"secretName": "s"}}, {"kind": "List", "items": []}, None):
        shown = describe(stored(key="/registry/pods/a/p", kind="Pod", json=document), None, reveal=False)
        assert (shown.redacted, shown.json, shown.hex) == (False, document, b"hunter".hex())
