"""Places on the etcd screen: a prefix, a key, or its revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.message_pump import MessagePump
from textual.timer import Timer

from ktui.core.references import Crumb, KeyRef, Place, PrefixRef, Reference

ROOT = "/registry/"
# etcd has no lease 0: it stands for "none".
NO_LEASE = 0


@dataclass(frozen=True, slots=True)
class EtcdLocation:
    """What is open; `prefix` and `key` are "" if none is."""

    prefix: str = ""
    key: str = ""
    past: bool = False

    def crumbs(self, root: str) -> Iterator[Crumb]:
        if self.prefix:
            yield Crumb(
                self.prefix.removeprefix(root).rstrip("/") or self.prefix, _at(PrefixRef(self.prefix))
            )
        if self.key:
            yield Crumb(self.key.removeprefix(self.prefix), _at(KeyRef(self.key)))
        if self.past:
            yield Crumb("revisions", _at(KeyRef(self.key, past=True)))


def _at(reference: Reference) -> Place:
    return Place("etcd", reference)


def prefix_above(key: str) -> str:
    """Return the prefix under which a key is listed: the key up to its last slash."""
    return key[: key.rfind("/") + 1]


def prefixes_down_to(prefix: str, root: str) -> Sequence[str]:
    """Return the prefixes to open so that `prefix` is visible in the tree, the outermost first."""
    found, start = [], len(root)
    while prefix.startswith(root) and (end := prefix.find("/", start)) >= 0:
        found.append(prefix[: end + 1])
        start = end + 1
    return found[:-1]


def lease_id(lease: int) -> str:
    """Return a lease as etcdctl writes it: in hexadecimal, or `–` for none."""
    return "–" if lease == NO_LEASE else f"{lease & 0xFFFF_FFFF_FFFF_FFFF:x}"


def is_secret(key: str) -> bool:
    """Return True for the key of a Secret: `/registry/secrets/…` under any etcd prefix."""
    return "/secrets/" in key


SETTLE = 0.12  # seconds without a move before etcd is read: not once for every row passed


class Debounce:
    """Runs the callback that was scheduled last, `seconds` later; earlier ones are dropped."""

    def __init__(self, node: MessagePump, seconds: float) -> None:
        self._node = node
        self._seconds = seconds
        self._timer: Timer | None = None

    def schedule(self, callback: Callable[[], object]) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._node.set_timer(self._seconds, callback)
