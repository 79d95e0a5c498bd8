import pytest

from ktui.wire.codec import CodecError
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.field_sizes import ENVELOPE, field_sizes
from tests.unit.wire.corpus import Golden, golden


@pytest.fixture(params=golden(), ids=lambda value: value.note)
def value(request: pytest.FixtureRequest) -> Golden:
    return request.param


def test_the_top_level_makes_up_the_value(value: Golden) -> None:
    sizes = field_sizes(value.raw)
    top = [field for field in sizes if "." not in field.path]
    glue = 20 + len(sizes) if value.raw.startswith(b"{") else 0  # braces and commas of JSON
    assert len(value.raw) - glue <= sum(field.size for field in top) <= len(value.raw)
    assert sizes == sorted(sizes, key=lambda field: (-field.size, field.path))
    assert all(field.share == field.size / len(value.raw) for field in sizes)


def test_a_pod_dominated_by_managed_fields() -> None:
    managed = [{"manager": "m", "fieldsV1": {"f:spec": {"f:x": {"n": "y" * 2000}}}} for _ in range(2)]
    raw = envelope_of(
        "v1", "Pod", encode_message("core.v1.Pod", {"metadata": {"name": "n", "managedFields": managed}})
    )
    sizes = {field.path: field for field in field_sizes(raw)}
    assert sizes["metadata.managedFields"].size > 4000
    assert sizes["metadata.managedFields"].share > 0.9
    assert sizes["metadata"].size >= sizes["metadata.managedFields"].size
    assert sizes[ENVELOPE].size < 30


def test_inlined_fields_belong_to_their_parent() -> None:
    spec = {"nfs": {"server": "s", "path": "/p"}}
    raw = envelope_of("v1", "PersistentVolume", encode_message("core.v1.PersistentVolume", {"spec": spec}))
    assert "spec.nfs" in {field.path for field in field_sizes(raw)}


def test_unknown_fields_go_by_number() -> None:
    raw = envelope_of("v1", "ConfigMap", b"\xfa\x07\x03abc")
    assert field_sizes(raw)[0].path in ("#127", ENVELOPE)


def test_a_value_without_known_fields_is_refused() -> None:
    with pytest.raises(CodecError, match="encrypted"):
        field_sizes(b"k8s:enc:aescbc:v1:key1:xxxx")
