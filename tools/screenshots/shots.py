"""The pictures of the gallery: every screen, what opens on it, its states and themes."""

from __future__ import annotations

from collections.abc import Callable

from ktui.config.places import shipped_themes
from ktui.core.state import RequestRow
from ktui.core.stored import joined
from ktui.tui.app import KtuiApp
from ktui.tui.lab.form_pane import FIELDS
from ktui.tui.looks.themes import DEFAULT, load_themes
from ktui.tui.overview.stored import StoredPane
from ktui.tui.table.vtable import VTable
from ktui.tui.workloads.screen import WorkloadsScreen
from tools.screenshots.stage import ALL, NORMAL, SMALL, WIDE, Shot, Step

SCOPED = "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-01"
PODS = "/registry/pods/"
ROUTES = {"cache", "cache_snapshot", "etcd"}


def varied(app: KtuiApp) -> bool:
    """True if the log has every route, an error, and a minute of history."""
    rows = list(app.state.requests.values())
    routes = {row.route for row in rows if row.done}
    return routes >= ROUTES and any(row.failed for row in rows) and rows[-1].at - rows[0].at > 70


def waiting(app: KtuiApp) -> bool:
    """True if a reader waits for a cache."""
    return any(row.cache.waiting for row in app.state.caches.values())


def most_expensive(app: KtuiApp) -> str:
    """Return the command that opens the LIST that scanned most objects without returning them."""

    def waste(row: RequestRow) -> tuple[int, int]:
        return (row.finished.fetched - row.finished.returned if row.finished is not None else 0), row.id

    rows = [row for row in app.state.requests.values() if row.started.verb == "LIST" and row.status == 200]
    rows = [row for row in rows if not row.started.client.startswith("ktui")]
    return f":request {max(rows, key=waste).id}"


def pod(app: KtuiApp) -> str:
    """Return the command that opens the key of the pod in namespace shop that was written last."""
    changed = [row.target for row in app.state.requests.values() if row.started.verb in ("PATCH", "PUT")]
    path = next(path for path in reversed(changed) if "/shop/pods/" in path)
    namespace, _, name = path.partition("/namespaces/")[2].partition("/pods/")
    return f":etcd /registry/pods/{namespace}/{name.split('/')[0].split('?')[0]}"


def churned(app: KtuiApp) -> bool:
    """True if a watch of etcd has counted changes for some seconds."""
    churn = app.screen.query_one(StoredPane).churn
    return churn is not None and churn.seconds > 8


def rated(app: KtuiApp) -> bool:
    """True if metrics were scraped twice, and the audit log was read."""
    found = joined(app.state)
    return any(row.cost for row in found) and any(row.asked is not None for row in found)


def cache_of_pods(app: KtuiApp) -> list[str]:
    """Return the keys that move the cursor to the cache of pods."""
    table = app.screen.query_one(VTable)
    resources = [line.row.cache.resource for line in table.rows]
    return ["home", *["down"] * resources.index("pods")]


def prefix(wanted: str) -> Callable[[KtuiApp], list[str]]:
    """Return a step that moves the cursor to a prefix in etcd's tree."""

    def keys(app: KtuiApp) -> list[str]:
        prefixes = [row.prefix for row in app.screen.query_one("#tree", VTable).rows]
        return ["home", *["down"] * prefixes.index(wanted)]

    return keys


def open_watch(app: KtuiApp) -> list[str]:
    """Return the keys that move the cursor to the open WATCHes with most bytes sent."""
    lines = app.screen.query_one("#top", VTable).rows
    open_ones = [line for line in lines if line.open is not None]
    return ["home", *["down"] * lines.index(max(open_ones, key=lambda line: line.spent.sent_bytes))]


def informer(app: KtuiApp) -> str:
    """Return the command that opens the watcher with most events."""
    return f":watch {max(app.state.watchers.values(), key=lambda row: row.delivered).id}"


def running(app: KtuiApp, seconds: int = 20) -> bool:
    """True if a workload has run for `seconds`."""
    session = app.screen.session if isinstance(app.screen, WorkloadsScreen) else None
    return session is not None and len(session.seconds) > seconds


def running_long(app: KtuiApp) -> bool:
    """True if it has run through the phases of most workloads."""
    return running(app, 32)


def workload(name: str) -> Callable[[KtuiApp], list[str]]:
    """Return a step that moves the cursor to a workload."""

    def keys(app: KtuiApp) -> list[str]:
        names = [row.name for row in app.screen.query_one("#workloads", VTable).rows]
        return ["home", *["down"] * names.index(name)]

    return keys


CLEAR: tuple[Step, ...] = ("escape", "escape")
SCREENS = (
    Shot("overview", ("1",), ALL, when=waiting),
    Shot("requests", (most_expensive,), ALL),
    Shot("requests-most-expensive", ("t", "home"), ALL),
    Shot("cache", ("3", cache_of_pods), ALL),
    Shot("etcd", ("4", prefix(PODS), "right", prefix(f"{PODS}shop/"), "tab"), ALL),
    Shot("watches", (informer,), ALL),
    Shot("lab", (f":lab {SCOPED}", "r"), ALL),
    Shot("lab-cheaper", ("home", "a"), (NORMAL,)),
    Shot("workloads", ("7", "down", "enter"), ALL, ("x",), running),
    Shot("workloads-defrag-stall", ("7", workload("defrag-stall"), "enter"), (NORMAL,), ("x",), running_long),
    Shot("workloads-informers", ("7", workload("informers"), "f8", "enter"), (NORMAL,), ("x",), running_long),
    Shot(
        "workloads-leader-election", ("7", workload("leader-election"), "enter"), (NORMAL,), ("x",), running
    ),
    Shot("workloads-time-travel", ("7", workload("time-travel"), "enter"), (NORMAL,), ("x",), running),
    Shot("versions", (f":versions {SCOPED}",), ALL),
)
OPENED = (
    Shot("cache-objects", (":cache pods",), (NORMAL, WIDE), CLEAR),
    Shot("requests-watch", (most_expensive, "t", open_watch), (NORMAL,), ("t",)),
    Shot("etcd-value", (pod,), (NORMAL, WIDE)),
    Shot("etcd-history", ("p",), (NORMAL,), CLEAR),
    Shot("lab-client-go", ("5", "y", "y", "y"), (NORMAL,), ("escape",)),
    Shot(
        "lab-watch",
        (f":lab {SCOPED}", "i", *["down"] * (len(FIELDS) - 1), "right", "enter"),
        (NORMAL,),
        ("escape",),
    ),
    Shot("versions-walk", (f":versions {SCOPED}", "enter"), (NORMAL, WIDE), ("escape",)),
)
DIALOGS = (
    Shot("help", (most_expensive, "question_mark"), (SMALL, NORMAL), ("escape",)),
    Shot("command", ("1", "colon", *"po"), (NORMAL,), ("escape",)),
    Shot("filter", (most_expensive, "slash", *"scanned>100 client:"), (NORMAL,), CLEAR),
    Shot("filter-help", (most_expensive, "slash", "f1"), (NORMAL,), CLEAR),
    Shot("ways", (most_expensive, "o"), (NORMAL,), ("escape",)),
    Shot("sort", (most_expensive, "s"), (NORMAL,), ("escape",)),
    Shot("columns", (most_expensive, "C"), (NORMAL,), ("escape",)),
    Shot("version-chooser", (most_expensive, "V", *["up"] * 6), (NORMAL,), ("escape",)),
)
THEMES = tuple(
    Shot(f"theme-{theme}", ("1", f":theme {theme}"))
    for theme in sorted(load_themes(shipped_themes()).by_name)
    if theme != DEFAULT
)
# By the session that they are taken in (sessions.py).
LIVE = (*SCREENS, *OPENED, *DIALOGS, *THEMES)
DISCONNECTED = Shot("disconnected", ("1",), (SMALL, NORMAL))
REPLAY = Shot("replay", ("1",), ALL)
ASCII = Shot("ascii", ("1",))
AUDIT = (
    Shot("audit", (), ALL),
    Shot("audit-group", ("enter",), (NORMAL,), ("escape",)),
    Shot("audit-versions", ("v",), (NORMAL,), ("escape",)),
    Shot("audit-slow-etcd", ("t", "down"), (NORMAL,), ("escape",)),
)
# Over an etcd whose server receives no requests.
STORED = (
    Shot("stored", ("1",), (NORMAL, WIDE)),
    Shot("stored-managed", ("t", "t", "x", "y", "t"), (NORMAL,)),
    Shot("stored-churn", ("t", "t", "x", "y"), (NORMAL,), when=churned),
)
# Over the same etcd, with metrics and an audit log.
SOURCES = (Shot("sources", ("1",), when=rated),)
# Over the recorded pages of a real kube-apiserver.
METRICS = (
    Shot("metrics-overview", ("1",), (SMALL, NORMAL)),
    Shot("metrics-requests", ("2",)),
    Shot("metrics-running", ("t",), (NORMAL,), ("t", "t")),
    Shot("metrics-cache", ("3",)),
    Shot("metrics-etcd", ("4",)),
    Shot("metrics-lab", ("5",)),
    Shot("metrics-watches", ("6",)),
    Shot("metrics-flow", ("7",)),
    Shot("metrics-versions", ("8",)),
)
# Over the recorded traces of a real kube-apiserver.
TRACES = (Shot("traces-requests", ("2",)), Shot("traces-ranking", ("t",)))


def pictures() -> set[str]:
    """Return the file names of the whole gallery."""
    taken = (*LIVE, DISCONNECTED, REPLAY, ASCII, *AUDIT, *STORED, *SOURCES, *METRICS, *TRACES)
    return {name for shot in taken for name in shot.files}
