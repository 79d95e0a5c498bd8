"""The selected Kubernetes version, and those before and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError, behaviour_of


def versions_from(version: str, gates: Mapping[str, bool]) -> list[Behaviour]:
    """Return the behaviour of `version` with these gates, then of each later minor.

    A later minor has those of the gates that can still be set. Raises BehaviourError for `version`.
    """
    chosen = behaviour_of(version, gates)
    return [chosen, *_others(gates, lambda minor: minor > chosen.minor)]


def versions_before(version: str, gates: Mapping[str, bool]) -> list[Behaviour]:
    """Return the behaviour of each earlier minor, oldest first, with the gates that it can set."""
    chosen = behaviour_of(version)
    return _others(gates, lambda minor: minor < chosen.minor)


def _others(gates: Mapping[str, bool], wanted: Callable[[int], bool]) -> list[Behaviour]:
    minors = (int(known.partition(".")[2]) for known in KNOWN_VERSIONS)
    versions = (f"1.{minor}" for minor in minors if wanted(minor))
    return [behaviour_of(known, settable(known, gates)) for known in versions]


def settable(version: str, gates: Mapping[str, bool]) -> dict[str, bool]:
    """Return the gates that can be set to these values in `version`."""
    return {gate: on for gate, on in gates.items() if _can_set(version, gate, on)}


def _can_set(version: str, gate: str, on: bool) -> bool:
    try:
        behaviour_of(version, {gate: on})
    except BehaviourError:
        return False
    return True
