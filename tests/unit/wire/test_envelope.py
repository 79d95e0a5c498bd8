import pytest

from ktui.wire.codec import CodecError, codec_for
from ktui.wire.encode import envelope_of
from ktui.wire.envelope import open_value


def test_protobuf() -> None:
    envelope = open_value(envelope_of("apps/v1", "Deployment", b"\x0a\x00"))
    assert (envelope.encoding, envelope.api_version, envelope.kind, envelope.body) == (
        "protobuf",
        "apps/v1",
        "Deployment",
        b"\x0a\x00",
    )


def test_json() -> None:
    envelope = open_value(b'{"apiVersion":"cilium.io/v2","kind":"CiliumNode","spec":{"n":1}}')
    assert (envelope.encoding, envelope.api_version, envelope.kind) == ("json", "cilium.io/v2", "CiliumNode")


def test_encrypted_values_name_provider_and_key() -> None:
    envelope = open_value(b"k8s:enc:kms:v2:my-plugin:\x00:\xff")
    assert (envelope.encoding, envelope.body) == ("encrypted", b"\x00:\xff")
    with pytest.raises(CodecError, match=r"encrypted \(kms, my-plugin\)"):
        codec_for().object_json(b"k8s:enc:kms:v2:my-plugin:x", 1)


@pytest.mark.parametrize(
    ("raw", "encoding", "reason"),
    [
        (b"", "unknown", "empty"),
        (b"42", "unknown", "neither"),
        (b"k8", "unknown", "truncated"),
        (b"\xd9\xd9\xf7\xa1", "cbor", "CBOR"),
        (b"k8s:enc:aescbc:v1", "encrypted", "truncated"),
        (b"/registry/pods/a/b\nk8s\x00\x0a", "unknown", "--print-value-only"),
        (b"/registry/widgets/a\n{", "unknown", "--print-value-only"),
    ],
)
def test_what_cannot_be_read_says_why(raw: bytes, encoding: str, reason: str) -> None:
    envelope = open_value(raw)
    assert envelope.encoding == encoding
    assert reason in envelope.reason
    with pytest.raises(CodecError, match=reason):
        codec_for().object_json(raw, 1)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"k8s\0\x0a\xff\xff\xff\xff\x0f", "truncated"),
        (b"k8s\0\x0b", "wire type 3"),
        (b"k8s\0\x00\x01", "field number 0"),
        (b"k8s\0\x08" + b"\xff" * 11, "longer than 10 bytes"),
        (b"k8s\0\x12\x00\x1a\x04gzip", "contentEncoding"),
        (b"k8s\0\x12\x00\x22\x01x", "contentType"),
        (b'{"kind":', "JSON"),
    ],
)
def test_what_begins_well_and_goes_wrong(raw: bytes, reason: str) -> None:
    with pytest.raises(CodecError, match=reason):
        open_value(raw)


def test_a_reason_holds_no_control_characters() -> None:
    with pytest.raises(CodecError) as error:
        codec_for().object_json(envelope_of("v1", "Po\x1b[31md", b""), 1)
    assert error.value.reason.isprintable()
