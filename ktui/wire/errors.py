"""The one error of this room."""


class CodecError(Exception):
    """Bytes that cannot be read, or an object that cannot be written, and why.

    `reason` is one sentence for people; it never quotes bytes of the value.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def unknown_kind(api_version: str, kind: str) -> CodecError:
    """A kind that no Kubernetes release from 1.24 to 1.37 has."""
    return CodecError(f"no built-in kind {kind} of {api_version}: its fields are not known")
