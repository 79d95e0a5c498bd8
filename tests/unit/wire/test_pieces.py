"""Items in pieces: the same text, and what objects have in common is held once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN
from ktui.wire.codec import Codec, item_json
from ktui.wire.encode import encode_object
from ktui.wire.pieces import Assembler
from tests.unit.wire.corpus import Golden, golden


@pytest.mark.parametrize("value", golden(), ids=lambda value: value.note)
def test_pieces_are_the_item(value: Golden) -> None:
    assert b"".join(Codec().item_pieces(value.raw, 4711)) == item_json(value.raw, 4711)


@given(st.lists(st.binary(max_size=300)))
def test_assembling_changes_nothing(texts: list[bytes]) -> None:
    assembler = Assembler()
    for _ in range(2):
        assert b"".join(assembler.pieces(texts)) == b"".join(texts)


def test_equal_containers_of_two_pods_are_one() -> None:
    codec = Codec()
    first, second = (codec.item_pieces(_pod(name), 7) for name in ("a", "b"))
    assert json.loads(b"".join(second))["metadata"]["name"] == "b"
    shared = {id(piece) for piece in first} & {id(piece) for piece in second}
    own = [piece for piece in second if id(piece) not in shared]
    assert sum(map(len, own)) < 200 < 2000 < sum(map(len, second))


def _pod(name: str) -> bytes:
    resource = BUILTIN.find("", "v1", "pods")
    assert resource is not None
    env = [{"name": f"VARIABLE_{number}", "value": "x" * 30} for number in range(30)]
    spec = {"containers": [{"name": "main", "image": "example.com/main:1", "env": env}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "spec": spec}
    return encode_object(pod, resource)
