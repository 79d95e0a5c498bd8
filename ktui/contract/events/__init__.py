"""The telemetry stream: routing decisions, costs and states as small typed events.

One JSON object per line, tagged by `type`. Readers skip unknown types and fields, so that
an older ktui can read a newer recording. `at` is wall time in Unix seconds, `ms` a duration
in milliseconds. `seq` is assigned by the bus and increases by one per event within a server's
life: a gap shows how many events were dropped.
"""

from __future__ import annotations

from ktui.contract.events.base import (
    COUNTS,
    FIGURES,
    Cost,
    Dropped,
    Event,
    Marker,
    ServerInfo,
    TaskFailures,
    figures,
)
from ktui.contract.events.live import (
    CacheProbe,
    FlowConfig,
    LevelScrape,
    LevelsDump,
    LiveServer,
    LiveStatus,
    ReplicaDown,
    ReplicaScrape,
    RequestsDump,
    ResourceAsked,
    ResourceScrape,
)
from ktui.contract.events.own_server import (
    CacheStatus,
    ChainStage,
    EtcdCall,
    EtcdHealth,
    EtcdProgress,
    EtcdUsage,
    FanOut,
    Prefix,
    ProgressTick,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)

__all__ = [
    "COUNTS", "FIGURES", "AnyEvent", "CacheProbe", "CacheStatus", "ChainStage", "Cost", "Dropped",
    "EtcdCall", "EtcdHealth", "EtcdProgress", "EtcdUsage", "Event", "FanOut", "FlowConfig", "LevelScrape",
    "LevelsDump", "LiveServer", "LiveStatus", "Marker", "Prefix", "ProgressTick", "ReplicaDown",
    "ReplicaScrape", "RequestFinished", "RequestRouted", "RequestStarted", "RequestsDump", "ResourceAsked",
    "ResourceScrape", "RouteStep", "ServerInfo", "TaskFailures", "WatcherClosed", "WatcherOpened",
    "WatcherState", "figures",
]  # fmt: skip

AnyEvent = (
    ServerInfo | RequestStarted | RequestRouted | RequestFinished | EtcdCall | EtcdUsage | EtcdHealth |
    EtcdProgress | CacheStatus | ProgressTick | Prefix | WatcherOpened | WatcherState | WatcherClosed |
    FanOut | TaskFailures | Dropped | Marker | LiveServer | LiveStatus | ReplicaScrape | ResourceScrape |
    LevelScrape | RequestsDump | LevelsDump | FlowConfig | CacheProbe | ReplicaDown | ResourceAsked
)  # fmt: skip
