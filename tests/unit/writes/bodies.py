"""Bodies as the server's parser hands them to the write path."""

from __future__ import annotations

from ktui.documents.jsonreader import read_json
from ktui.documents.limits import DocumentError
from ktui.documents.yamlreader import read_yaml
from ktui.writes.decoding.body import YAML, SentBody


def sent(raw: bytes, media_type: str = "") -> SentBody:
    """A body that is read as its media type says."""
    try:
        tree = read_yaml(raw) if media_type == YAML else read_json(raw)
    except DocumentError as error:
        return SentBody(raw, media_type, error=error)
    return SentBody(raw, media_type, tree)
