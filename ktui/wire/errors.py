"""The one error of this room."""


class CodecError(Exception):
    """Bytes that cannot be read, or an object that cannot be written, and why.

    `reason` is one sentence for people; it never quotes bytes of the value.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
