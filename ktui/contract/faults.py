"""Faults that a server injects between itself and an etcd that it started."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

MOST_SECONDS = 300.0


class FaultKind(NamedTuple):
    """What a fault does, and its default duration in seconds; 0: it has no duration.

    `breaks`: requests fail, or something is lost; it is not injected by a single key.
    """

    about: str
    seconds: float
    breaks: bool = True


KINDS: dict[str, FaultKind] = {
    "pause": FaultKind("etcd is stopped (SIGSTOP), then continues", 5.0),
    "slow": FaultKind("100 ms more each way between ktui and etcd", 10.0, breaks=False),
    "cut": FaultKind("connections to etcd break, new ones are closed", 5.0),
    "stall": FaultKind("etcd's watches deliver nothing, reads go on", 5.0, breaks=False),
    "compact": FaultKind("etcd's history up to now is compacted", 0.0),
    "quota": FaultKind("alarm NOSPACE: etcd refuses writes", 10.0),
    "restart": FaultKind("etcd is killed and started on the same data", 1.0),
    "kill": FaultKind("the server is killed (SIGKILL)", 1.0),
}


class Fault(msgspec.Struct, frozen=True):
    """One fault, for `seconds`; 0: for the default duration of its kind."""

    kind: str
    seconds: float = 0.0

    def checked(self) -> Fault:
        """Return the fault with its duration filled in. Raises ValueError, which says what is wrong."""
        if self.kind not in KINDS:
            raise ValueError(f"there is no fault {self.kind!r}: choose one of {', '.join(KINDS)}")
        usual = KINDS[self.kind].seconds
        if self.seconds and not usual:
            raise ValueError(f"{self.kind} is over at once: it has no duration")
        if not 0 <= self.seconds <= MOST_SECONDS:
            raise ValueError(f"{self.kind}: from 0 to {MOST_SECONDS:.0f} s")
        return Fault(self.kind, self.seconds or usual)

    def __str__(self) -> str:
        return f"{self.kind} {self.seconds:g}s" if self.seconds else self.kind


class ActiveFaults(msgspec.Struct, frozen=True):
    """The faults that are active now."""

    active: list[Fault]


class TimedFault(NamedTuple):
    """A fault that begins `at` seconds after the start of a run."""

    at: float
    fault: Fault


_TIMED = re.compile(r"([a-z]+)@([0-9.]+)s?(?::([0-9.]+)s?)?")


def timed_fault(text: str) -> TimedFault:
    """Parse KIND@T[:DURATION] in seconds, as `pause@10s:5s` or `compact@30`. Raises ValueError."""
    found = _TIMED.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r}: write KIND@T[:DURATION] in seconds, for example pause@10s:5s")
    try:
        return TimedFault(float(found[2]), Fault(found[1], float(found[3] or 0)).checked())
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from error
