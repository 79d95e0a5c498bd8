"""Against what real servers answered."""

import json

import pytest

from ktui.wire.codec import codec_for
from ktui.wire.encode import encode_message, encode_object, envelope_of
from ktui.wire.envelope import open_value
from ktui.wire.schema import message_of
from tests.unit.wire.corpus import Pair, conformance, identical, resource_of

pytestmark = pytest.mark.slow

UNTYPED = "no typeMeta"


def _decoded(pair: Pair, release: int | None) -> object:
    codec = codec_for(release, as_stored=pair.mod_revision is None)
    if pair.note == UNTYPED:
        return json.loads(codec.message_json("v1", "WatchEvent", open_value(pair.raw).body))
    return json.loads(codec.object_json(pair.raw, pair.mod_revision))


def test_every_value_decodes_to_what_its_release_served() -> None:
    wrong = [
        pair.name for pair in conformance() if not identical(_decoded(pair, pair.release), pair.expected)
    ]
    assert wrong == []


def test_without_a_stated_release_only_values_marked_so_differ() -> None:
    pairs = [pair for pair in conformance() if pair.note != "release"]
    assert [pair.name for pair in pairs if not identical(_decoded(pair, None), pair.expected)] == []


def test_encoding_gives_back_the_stored_bytes() -> None:
    """Sparse values lack what every server writes, so their bytes cannot come back."""
    wrong = []
    for pair in conformance():
        if pair.note == UNTYPED or pair.name.startswith("sparse/"):
            continue
        obj = _decoded(pair, None)
        envelope = open_value(pair.raw)
        if envelope.encoding == "protobuf":
            message = message_of(envelope.api_version, envelope.kind)
            assert message is not None and isinstance(obj, dict)
            if pair.mod_revision is not None:
                obj["metadata"]["resourceVersion"] = ""
            unknown: list[str] = []
            raw = envelope_of(envelope.api_version, envelope.kind, encode_message(message, obj, unknown))
            assert not unknown, pair.name
        else:
            assert isinstance(obj, dict)
            raw = encode_object(obj, resource_of(obj))
        if raw != pair.raw:
            wrong.append(pair.name)
    assert wrong == []
