"""The chosen Kubernetes version and those after it."""

from __future__ import annotations

from collections.abc import Mapping

from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError, behaviour_of


def versions_from(version: str, gates: Mapping[str, bool]) -> list[Behaviour]:
    """The behaviour of `version` with these gates first, then of each later minor.

    A later minor gets the gates that it still lets be set. Raises BehaviourError for
    the chosen one.
    """
    chosen = behaviour_of(version, gates)
    later = [known for known in KNOWN_VERSIONS if int(known.partition(".")[2]) > chosen.minor]
    return [chosen, *(behaviour_of(known, _settable(known, gates)) for known in later)]


def _settable(version: str, gates: Mapping[str, bool]) -> dict[str, bool]:
    return {gate: on for gate, on in gates.items() if _can_set(version, gate, on)}


def _can_set(version: str, gate: str, on: bool) -> bool:
    try:
        behaviour_of(version, {gate: on})
    except BehaviourError:
        return False
    return True
