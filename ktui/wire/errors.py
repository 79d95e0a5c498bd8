"""The error of stored values that cannot be decoded or encoded."""

_LONGEST = 400


class CodecError(Exception):
    """Bytes cannot be decoded, or an object cannot be encoded.

    `reason` is one sentence. Names in it come from the value, so unprintable characters are replaced.
    """

    def __init__(self, reason: str) -> None:
        text = reason[:_LONGEST]
        self.reason = (
            text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
        )
        super().__init__(self.reason)


def unknown_kind(api_version: str, kind: str) -> CodecError:
    """Return the error for a kind that no Kubernetes release from 1.24 to 1.37 has."""
    return CodecError(f"no built-in kind {kind} of {api_version}: its fields are not known")
