"""Both directions of the wire room as the one object that the API server asks for."""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import Resource
from ktui.wire.codec import Codec, encode_object


class StoredCodec(Codec):
    """Stored bytes to JSON of any served version, and back."""

    def encode_object(self, obj: dict[str, Any], resource: Resource) -> bytes:
        """CodecError names the JSON path that does not fit."""
        return encode_object(obj, resource)
