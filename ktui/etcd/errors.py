"""What can go wrong with etcd, each as one clear sentence for people."""

from __future__ import annotations


class EtcdError(Exception):
    """Base of the room's errors. `str()` is one sentence; `detail` is etcd's or gRPC's own text."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class ReadOnlyError(EtcdError):
    """A request that ktui does not send to an etcd that it only reads. Nothing has left the process."""


class UnreachableError(EtcdError):
    """No answer. `step` is how far the connection got: DNS, TCP, TLS, or "etcd" when it broke later."""

    def __init__(self, sentence: str, detail: str = "", step: str = "etcd") -> None:
        super().__init__(sentence, detail)
        self.step = step


class ConnectionLostError(UnreachableError):
    """The connection was given up: it was silent while another one answered. A write may have been made."""


class AuthenticationError(EtcdError):
    """etcd does not accept user and password, or wants some."""


class PermissionDeniedError(EtcdError):
    """The user is known and may not read (or write) that key range."""


class CompactedError(EtcdError):
    """The revision asked for is gone. `compact_revision` is the oldest that etcd still has, 0 when unsaid."""

    def __init__(self, sentence: str, detail: str = "", compact_revision: int = 0) -> None:
        super().__init__(sentence, detail)
        self.compact_revision = compact_revision


class FutureRevisionError(EtcdError):
    """The revision asked for does not exist yet."""


class RequestTooLargeError(EtcdError):
    """The request is larger than etcd takes (--max-request-bytes, 1.5 MiB)."""


class NoSpaceError(EtcdError):
    """etcd's space quota is used up, or its disk is full."""


class EmbeddedEtcdError(EtcdError):
    """The embedded etcd cannot be started, or has ended by itself."""


class SnapshotError(EtcdError):
    """A snapshot file that cannot be restored."""
