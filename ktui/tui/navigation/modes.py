"""The screens that a number or a name opens."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class Mode(Struct, frozen=True):
    """One screen, imported when it is first opened."""

    number: int
    name: str
    title: str
    about: str
    factory: str  # "folder:class": the class in that folder's screen.py
    aliases: tuple[str, ...] = ()

    def make(self) -> Any:
        """Import the module of the screen, and make the screen."""
        folder, _, name = self.factory.partition(":")
        return getattr(import_module(f"ktui.tui.{folder}.screen"), name)()


MODES = (
    Mode(1, "overview", "Overview", "caches, etcd and requests at a glance", "overview:OverviewScreen",
         ("home",)),
    Mode(2, "requests", "Requests", "every request: route, reason, cost", "requests:RequestsScreen",
         ("log", "req")),
    Mode(3, "cache", "Cache", "the watch caches", "cache:CacheScreen", ("caches", "watchcache")),
    Mode(4, "etcd", "etcd", "prefixes, keys and revisions", "etcd:EtcdScreen", ("keys", "tree")),
    Mode(5, "lab", "Lab", "send a LIST and see its route", "lab:LabScreen", ("list", "send", "fire")),
    Mode(6, "watches", "Watches", "every WATCH and the fan-out of events", "watches:WatchesScreen",
         ("watchers",)),
    Mode(7, "workloads", "Workloads", "client behaviours that run, with charts and knobs",
         "workloads:WorkloadsScreen", ("load", "loads", "workload")),
    Mode(8, "versions", "Versions", "the selected request under every version", "versions:VersionsScreen",
         ("matrix", "explain")),
)  # fmt: skip

FLOW = Mode(7, "flow", "Flow control", "priority levels: seats, queues and the requests in them",
            "live:LiveFlowControl", ("apf", "levels"))  # fmt: skip
# Flow control of ktui's own server, from its telemetry; opened by name.
OWN_FLOW = replace(FLOW, number=0, factory="live:FlowControlScreen")
# Over a kube-apiserver whose metrics are read: the same places with other screens. Flow control replaces
# Workloads, which run against ktui's own server.
_OVER_METRICS = {"overview": "LiveOverview", "requests": "LiveRequests", "cache": "LiveCaches",
                 "etcd": "LiveEtcd", "watches": "LiveWatches", "versions": "LiveVersions"}  # fmt: skip
LIVE_MODES = (
    *(replace(mode, factory=f"live:{_OVER_METRICS[mode.name]}") if mode.name in _OVER_METRICS else mode
      for mode in MODES if mode.number != FLOW.number),
    FLOW,
)  # fmt: skip


def find_mode(word: str) -> Mode | None:
    """Return the mode with this number, name, alias or unambiguous beginning of a name; None if unknown."""
    word = word.strip().lower()
    for mode in (*MODES, FLOW):
        if word in (str(mode.number), mode.name, *mode.aliases):
            return mode
    begun = [mode for mode in (*MODES, FLOW) if word and mode.name.startswith(word)]
    return begun[0] if len(begun) == 1 else None
