"""Behaviour of one Kubernetes version: its minor and the values of its feature gates."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from ktui.kube.gates import (
    DEFAULT_VERSION,
    GATES,
    NEWEST_MINOR,
    OLDEST_MINOR,
    PREVIEWS,
    READ_GATES,
    FeatureSpec,
    GateStage,
    default_of,
    phase_of,
)

KNOWN_VERSIONS: tuple[str, ...] = tuple(f"1.{minor}" for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1))

_VERSION = re.compile(r"v?1\.(\d+)(?:\.(\d+))?(?:[-+].*)?")
_NO_GATES: Mapping[str, bool] = MappingProxyType({})


class BehaviourError(ValueError):
    """The version or gate is unknown, or the gate locked; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A minor and its feature gates: a rule asks `enabled("Gate")`, or compares `minor` if it has no gate.

    `gates` holds every gate that the minor has or had, with its effective value;
    `patch` is None for the newest patch release of the minor.
    """

    minor: int
    patch: int | None = None
    gates: Mapping[str, bool] = field(default_factory=dict, hash=False)

    @property
    def version(self) -> str:
        """`1.36`, or `1.33.1` if a patch release was given."""
        return f"1.{self.minor}" if self.patch is None else f"1.{self.minor}.{self.patch}"

    @property
    def preview(self) -> str:
        """The pre-release whose rules these are, e.g. `1.38.0-alpha.2`; "" for a released minor."""
        return PREVIEWS.get(self.minor, "")

    def enabled(self, gate: str) -> bool:
        """Return the effective value of a gate by its upstream name; False if the minor never had it."""
        return self.gates.get(gate, False)

    @property
    def changed_gates(self) -> dict[str, bool]:
        """The gates that differ from the minor's defaults, sorted by name."""
        changed = {g: on for g, on in self.gates.items() if on != default_of(g, self.minor)}
        return dict(sorted(changed.items()))


def parse_version(text: str) -> tuple[int, int | None]:
    """Return minor and patch of `1.36`, `v1.33.2` or `1.31.0-rc.1`; raise BehaviourError otherwise."""
    match = _VERSION.fullmatch(text.strip())
    if match and OLDEST_MINOR <= int(match[1]) <= NEWEST_MINOR:
        return int(match[1]), int(match[2]) if match[2] else None
    raise BehaviourError(
        f"unknown Kubernetes version {text!r}: choose one of {KNOWN_VERSIONS[0]} to {KNOWN_VERSIONS[-1]}"
        f"{''.join(f' (1.{minor}: {release})' for minor, release in PREVIEWS.items())}"
    )


def parse_gates(text: str) -> dict[str, bool]:
    """Parse `A=true,B=false` as kube-apiserver's --feature-gates does; raise BehaviourError otherwise."""
    gates: dict[str, bool] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition("=")
        if value.strip().lower() not in ("true", "false"):
            raise BehaviourError(f"feature gate {pair!r} is not of the form Name=true or Name=false")
        gates[name.strip()] = value.strip().lower() == "true"
    return gates


def behaviour_of(version: str = DEFAULT_VERSION, gates: Mapping[str, bool] = _NO_GATES) -> Behaviour:
    """Return the behaviour of a kube-apiserver of `version` started with these --feature-gates.

    Raises BehaviourError.
    """
    minor, patch = parse_version(version)
    return _behaviour(minor, patch, frozenset(gates.items()))


def with_gate(behaviour: Behaviour, gate: str, on: bool) -> Behaviour:
    """Return the behaviour with one gate set, even if no flag can set it in this version; for comparisons."""
    return replace(behaviour, gates=MappingProxyType({**behaviour.gates, gate: on}))


def steering_gates(minor: int) -> tuple[tuple[str, FeatureSpec], ...]:
    """Return the gates that affect reads and can be set in this minor, with their spec."""
    phases = ((gate, phase_of(gate, minor)) for gate in READ_GATES)
    return tuple((gate, phase) for gate, phase in phases if phase and phase.stage is not GateStage.GONE)


def check_gates(gates: Mapping[str, bool]) -> None:
    """Raise BehaviourError for a gate that no minor has."""
    for gate in gates:
        if gate not in GATES:
            raise _unknown_gate(gate, NEWEST_MINOR)


@lru_cache(maxsize=256)
def _behaviour(minor: int, patch: int | None, overrides: frozenset[tuple[str, bool]]) -> Behaviour:
    effective = {g: default_of(g, minor) for g in GATES if phase_of(g, minor) is not None}
    for gate, wanted in sorted(overrides):
        _check_settable(gate, wanted, minor)
        effective[gate] = wanted
    return Behaviour(minor, patch, MappingProxyType(effective))


def _check_settable(gate: str, wanted: bool, minor: int) -> None:
    if gate not in GATES:
        raise _unknown_gate(gate, minor)
    phase = phase_of(gate, minor)
    if phase is None:
        first = GATES[gate][0].minor
        raise BehaviourError(
            f"feature gate {gate} does not exist in Kubernetes 1.{minor}: it came with 1.{first}"
        )
    if phase.stage is GateStage.GONE:
        raise BehaviourError(
            f"feature gate {gate} does not exist in Kubernetes 1.{minor}: "
            f"it was removed in 1.{phase.minor} and is {str(phase.default).lower()} for good"
        )
    if phase.stage is GateStage.LOCKED and wanted != phase.default:
        default, other = (str(value).lower() for value in (phase.default, wanted))
        raise BehaviourError(
            f"feature gate {gate} is locked to {default} since Kubernetes 1.{phase.minor} "
            f"and cannot be set to {other} in 1.{minor}"
        )


def _unknown_gate(gate: str, minor: int) -> BehaviourError:
    settable = [g for g in GATES if (phase := phase_of(g, minor)) and phase.stage is not GateStage.GONE]
    near = difflib.get_close_matches(gate, settable, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    known = f"Kubernetes 1.{minor} knows {', '.join(settable)}"
    return BehaviourError(f"unknown feature gate {gate!r}: {hint}{known}")
