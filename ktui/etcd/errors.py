"""Errors of etcd, each as one sentence for users."""

from __future__ import annotations


class EtcdError(Exception):
    """Base of etcd errors. `str()` is one sentence; `detail` is etcd's or gRPC's own message."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class ReadOnlyError(EtcdError):
    """The request was not sent, because ktui only reads this etcd."""


class UnreachableError(EtcdError):
    """There was no response. `step` is the failed step: DNS, TCP, TLS, or "etcd" after connecting."""

    def __init__(self, sentence: str, detail: str = "", step: str = "etcd") -> None:
        super().__init__(sentence, detail)
        self.step = step


class ConnectionLostError(UnreachableError):
    """The connection was given up, as it was silent while another answered. A write may have happened."""


class AuthenticationError(EtcdError):
    """etcd rejects user and password, or requires them."""


class PermissionDeniedError(EtcdError):
    """The user is authenticated but may not read (or write) that key range."""


class CompactedError(EtcdError):
    """The requested revision is compacted. `compact_revision` is the oldest available, 0 if unknown."""

    def __init__(self, sentence: str, detail: str = "", compact_revision: int = 0) -> None:
        super().__init__(sentence, detail)
        self.compact_revision = compact_revision


class FutureRevisionError(EtcdError):
    """The requested revision does not exist yet."""


class RequestTooLargeError(EtcdError):
    """The request is larger than etcd accepts (--max-request-bytes, 1.5 MiB)."""


class NoSpaceError(EtcdError):
    """etcd's space quota is used up, or its disk is full."""


class UnimplementedError(EtcdError):
    """etcd, or a proxy before it, does not have the RPC."""


class EmbeddedEtcdError(EtcdError):
    """The embedded etcd does not start, or has ended unexpectedly."""


class SnapshotError(EtcdError):
    """A snapshot file cannot be restored."""
