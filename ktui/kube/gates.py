"""Feature gates of kube-apiserver that affect reads: stage and default by minor, as data.

Each gate has a list of `FeatureSpec`s; each applies from its minor until the next one. Before the first one
the gate does not exist and the feature is off; from GONE on, the flag is refused and the last default
applies.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

OLDEST_MINOR = 19
NEWEST_MINOR = 38
PREVIEWS = {38: "1.38.0-alpha.2"}
"""The release of each minor that is not final; its rules and gates may still change."""
SHARDED = "ShardedListAndWatch"
DEFAULT_VERSION = "1.36"
VERSION_RANGE = f"1.{OLDEST_MINOR} to 1.{NEWEST_MINOR}"


class GateStage(StrEnum):
    """Stage of a gate; a locked gate can only be set to its default."""

    ALPHA = "alpha"
    BETA = "beta"
    DEPRECATED = "deprecated"
    LOCKED = "locked"
    GONE = "gone"


class FeatureSpec(NamedTuple):
    """Stage and default of a gate from `minor` on."""

    minor: int
    stage: GateStage
    default: bool


def _gate(*phases: tuple[int, GateStage, bool]) -> tuple[FeatureSpec, ...]:
    return tuple(FeatureSpec(*phase) for phase in phases)


_A, _B, _D, _L, _X = GateStage.ALPHA, GateStage.BETA, GateStage.DEPRECATED, GateStage.LOCKED, GateStage.GONE

GATES: dict[str, tuple[FeatureSpec, ...]] = {
    "APIListChunking": _gate((19, _B, True), (29, _L, True), (33, _X, True)),
    "APIPriorityAndFairness": _gate((19, _A, False), (20, _B, True), (29, _L, True), (31, _X, True)),
    "APIResponseCompression": _gate((19, _B, True)),
    "APIServerIdentity": _gate((20, _A, False), (26, _B, True)),
    "APIServerTracing": _gate((22, _A, False), (27, _B, True), (34, _L, True), (37, _X, True)),
    "AuthorizeWithSelectors": _gate((31, _A, False), (32, _B, True), (34, _L, True), (37, _X, True)),
    "BtreeWatchCache": _gate((32, _B, True), (33, _L, True), (37, _X, True)),
    "CBORServingAndStorage": _gate((32, _A, False)),
    "ConcurrentWatchObjectDecode": _gate((31, _B, False), (37, _B, True)),
    "ConsistentListFromCache": _gate((28, _A, False), (31, _B, True), (34, _L, True), (37, _X, True)),
    "ConsistentListFromCacheSkipTimeoutFallback": _gate((37, _A, False)),
    "ConstrainedImpersonation": _gate((35, _A, False), (36, _B, True)),
    "DetectCacheInconsistency": _gate((34, _B, True)),
    "EfficientWatchResumption": _gate((20, _A, False), (21, _B, True), (24, _L, True), (33, _X, True)),
    "EtcdRangeStream": _gate((37, _B, True)),
    "ListFromCacheSnapshot": _gate((33, _A, False), (34, _B, True)),
    "ManagedFieldsOptOut": _gate((38, _A, False)),
    "RemainingItemCount": _gate((19, _B, True), (29, _L, True), (33, _X, True)),
    "RemoveSelfLink": _gate((19, _A, False), (20, _B, True), (24, _L, True), (30, _X, True)),
    "ResilientWatchCacheInitialization": _gate((31, _B, True), (34, _L, True), (37, _X, True)),
    "SelectorIndex": _gate((19, _B, True), (20, _L, True), (25, _X, True)),
    "SeparateCacheWatchRPC": _gate((28, _B, True), (33, _D, False), (36, _L, False)),
    "ShardedListAndWatch": _gate((36, _A, False)),
    "SizeBasedListCostEstimate": _gate((34, _B, True)),
    "StorageNamespaceIndex": _gate((30, _B, True), (33, _D, True)),
    "StreamingCollectionEncodingToJSON": _gate((33, _B, True), (34, _L, True), (37, _X, True)),
    "StreamingCollectionEncodingToProtobuf": _gate((33, _B, True), (34, _L, True), (37, _X, True)),
    "TokenRequestServiceAccountUIDValidation": _gate((34, _B, True)),
    "UnknownVersionInteroperabilityProxy": _gate((28, _A, False), (36, _B, True)),
    "WatchBookmark": _gate((19, _L, True), (33, _X, True)),
    "WatchCacheInitializationPostStartHook": _gate((31, _B, False), (36, _B, True), (37, _L, True)),
    "WatchFromStorageWithoutResourceVersion": _gate((27, _B, False), (33, _L, False), (36, _X, False)),
    "WatchList": _gate((27, _A, False), (32, _B, True), (33, _B, False), (34, _B, True)),
    "WatchListCompression": _gate((37, _B, True)),
    "ZeroLimitedNominalConcurrencyShares": _gate((29, _B, False), (30, _L, True), (32, _X, True)),
}

READ_GATES = (
    "APIPriorityAndFairness", "ConsistentListFromCache", "ConsistentListFromCacheSkipTimeoutFallback",
    "DetectCacheInconsistency", "EtcdRangeStream", "ListFromCacheSnapshot", "ManagedFieldsOptOut",
    "RemoveSelfLink", "ResilientWatchCacheInitialization", SHARDED, "SizeBasedListCostEstimate",
    "StorageNamespaceIndex", "WatchFromStorageWithoutResourceVersion", "WatchList",
    "WatchListCompression",
)  # fmt: skip
"""The gates of reads that a rule of ktui asks for."""
OTHER_GATES = (
    "AuthorizeWithSelectors", "BtreeWatchCache", "ConstrainedImpersonation",
    "TokenRequestServiceAccountUIDValidation",
)  # fmt: skip
"""The others that a rule asks for: of rights and of a metric. The rest are only named."""


def phase_of(gate: str, minor: int) -> FeatureSpec | None:
    """Return the gate's spec in `minor`, None before the gate existed; raise KeyError for an unknown name."""
    current = None
    for phase in GATES[gate]:
        if phase.minor > minor:
            break
        current = phase
    return current


def default_of(gate: str, minor: int) -> bool:
    """Return whether the feature is on in `minor` if the gate is not set."""
    phase = phase_of(gate, minor)
    return phase is not None and phase.default


def minor_of(version: str) -> int:
    """Return the minor of `1.36`, known to ktui or not; 0 for another text."""
    minor = version.partition(".")[2]
    return int(minor) if minor.isdecimal() else 0
