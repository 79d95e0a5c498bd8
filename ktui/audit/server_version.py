"""The Kubernetes version by whose rules a log is read, if the user names none: what the log itself shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ktui.audit.predictions import VersionPredictions
from ktui.audit.report import Observed
from ktui.audit.report_rows import total_observed
from ktui.audit.tally import Tally
from ktui.core.format import integer
from ktui.kube.gates import DEFAULT_VERSION, NEWEST_MINOR, OLDEST_MINOR
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of


def versions_from(version: str, gates: Mapping[str, bool]) -> list[Behaviour]:
    """Return the behaviour of `version` with these gates, then of each later minor.

    A later minor has those of the gates that can still be set. Raises BehaviourError for `version`.
    """
    chosen = behaviour_of(version, gates)
    return [chosen, *_others(gates, range(chosen.minor + 1, NEWEST_MINOR + 1))]


def versions_before(version: str, gates: Mapping[str, bool]) -> list[Behaviour]:
    """Return the behaviour of each earlier minor, oldest first, with the gates that it can set."""
    return _others(gates, range(OLDEST_MINOR, behaviour_of(version).minor))


def _others(gates: Mapping[str, bool], minors: Iterable[int]) -> list[Behaviour]:
    versions = [f"1.{minor}" for minor in minors]
    return [behaviour_of(version, settable(version, gates)) for version in versions]


def settable(version: str, gates: Mapping[str, bool]) -> dict[str, bool]:
    """Return the gates that can be set to these values in `version`."""
    found = {}
    for gate, on in gates.items():
        with suppress(BehaviourError):
            behaviour_of(version, {gate: on})
            found[gate] = on
    return found


GIVEN = "given"
LOOPBACK = "the apiserver's requests to itself"
OBSERVED = "the routes of slow requests"
ASSUMED = "assumed"
_ITSELF = re.compile(r"kube-apiserver/v1\.([0-9]{1,3})(?:\.|$)")
_USERS = ("system:apiserver", "")  # httplog lines have no user
# One of each table of routes (docs/routing.md), the newest first.
_TRIED = ("1.33", "1.30")


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """A version, and where it is from: GIVEN, LOOPBACK, OBSERVED or ASSUMED. `others`: further versions of
    apiservers in the log."""

    version: str
    origin: str = GIVEN
    others: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """A sentence for the notes; "" if the user gave the version and the log does not name another."""
        also = f"; the log has apiservers of {', '.join(self.others)} too" if self.others else ""
        if self.origin == GIVEN:
            return f"the log is of an apiserver {', '.join(self.others)}, not {self.version}" if also else ""
        if self.origin == ASSUMED:
            return f"routes are those of {self.version}: the log does not name its version (--kube-version)"
        newer = ", or of a newer one with gates switched off" if self.origin == OBSERVED else ""
        return (
            f"routes are those of {self.version}{newer}, by {self.origin}{also} (--kube-version for others)"
        )


def version_of(
    tally: Tally, given: str = "", gates: Mapping[str, bool] | None = None, *, progress: bool = True
) -> ServerVersion:
    """Return the version to read the log by: the given one, else by the log."""
    named = _named(tally)
    if given:
        minor = behaviour_of(given).minor
        return ServerVersion(given, others=() if minor in named else _texts(named))
    if named:
        most, *rest = sorted(named, key=lambda minor: (named[minor], minor), reverse=True)
        known = min(max(most, OLDEST_MINOR), NEWEST_MINOR)
        return ServerVersion(f"1.{known}", LOOPBACK, _texts([most] if known != most else rest))
    slow = [group for group in tally.groups if group.slow is not None]

    def contradicts(version: str) -> bool | None:
        """True if at least half of the measured requests have another route; None if none is measured."""
        behaviour = behaviour_of(version, settable(version, gates or {}))
        found = total_observed(slow, VersionPredictions([behaviour], {}, progress=progress))
        return _contradicts(found) if found is not None else None

    # The newest version that measured routes do not contradict, if they contradict the default.
    if contradicts(DEFAULT_VERSION):
        fitting = next((each for each in _TRIED if contradicts(each) is False), "")
        if fitting:
            return ServerVersion(fitting, OBSERVED)
    return ServerVersion(DEFAULT_VERSION, ASSUMED)


def contradicted(observed: Observed | None, version: str) -> str:
    """Return a sentence if half of the measured requests have another route, fallbacks aside."""
    if observed is None or not _contradicts(observed):
        return ""
    different, measured = observed.differ - observed.fallback, observed.agree + observed.differ
    return (
        f"{integer(different)} of {integer(measured)} requests whose route was measured contradict "
        f"{version}: --kube-version or --feature-gates are not the apiserver's"
    )


def _contradicts(observed: Observed) -> bool:
    different = observed.differ - observed.fallback
    return different > 0 and 2 * different >= observed.agree + observed.differ


def _named(tally: Tally) -> Counter[int]:
    """Return the minors in the user agents of apiservers that send requests to themselves, with counts."""
    found = Counter[int]()
    for group in tally.groups:
        agent, user = group.key.client
        if user in _USERS and (match := _ITSELF.match(agent)):
            found[int(match[1])] += group.count
    return found


def _texts(minors: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"1.{minor}" for minor in sorted(minors))
