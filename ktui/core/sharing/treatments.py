"""How each field of each event is treated in a shared recording.

A field that is not listed is emptied; a test requires each new field to be listed.
"""

from __future__ import annotations

from enum import Enum

from ktui.contract.events import FIGURES


class Treatment(Enum):
    """KEEP: it has no names. EMPTY: it is left out. The other members say what the field contains."""

    KEEP = "keep"
    EMPTY = "empty"
    NAMESPACE = "a namespace"
    NAME = "an object's name"
    PATH = "a URL's path"
    QUERY = "a URL's query"
    SELECTOR = "label and field selectors"
    KEYS = "a request in etcd's text form, with keys in quotes"
    KEY = "a key of etcd"
    ETCD_PREFIX = "where Kubernetes keeps its keys"
    CLIENT = "a user agent, or its first word"
    USER = "the requester's user name"
    LEVEL = "a priority level"
    PEER = "host:port of a connection's other end"
    ACCEPT = "an Accept header"
    HOSTS = "a list of addresses"
    TEXT = "free text, which may contain any name"
    RUNNING = "requests that execute or wait, with user and path"
    TEXTS = "a list of free texts or of decision trace steps"


_SPECIAL: dict[str, dict[str, Treatment]] = {
    "server": {
        "endpoints": Treatment.HOSTS,
        "etcd_prefix": Treatment.ETCD_PREFIX,
        "filling": Treatment.KEEP,
        "name": Treatment.EMPTY,  # a host, a file, a context
        "warnings": Treatment.TEXTS,
    },
    "request_started": {
        "path": Treatment.PATH,
        "query": Treatment.QUERY,
        "namespace": Treatment.NAMESPACE,
        "name": Treatment.NAME,
        "client": Treatment.CLIENT,
        "user_agent": Treatment.CLIENT,
        "accept": Treatment.ACCEPT,
        "user": Treatment.USER,
        "level": Treatment.LEVEL,
        "peer": Treatment.PEER,
        "flow_schema": Treatment.LEVEL,
        "audit_id": Treatment.EMPTY,
        "chain": Treatment.EMPTY,
    },
    "request_routed": {"steps": Treatment.TEXTS},
    "request_finished": {"error": Treatment.TEXT, "chain": Treatment.EMPTY},
    "etcd_call": {"request": Treatment.KEYS, "error": Treatment.TEXT},
    "etcd_health": {"detail": Treatment.TEXT},
    "cache": {"error": Treatment.TEXT, "check_detail": Treatment.TEXT},
    "prefix": {"prefix": Treatment.KEY},
    "watcher_opened": {
        "client": Treatment.CLIENT,
        "namespace": Treatment.NAMESPACE,
        "name": Treatment.NAME,
        "selector": Treatment.SELECTOR,
    },
    "watcher_closed": {"cause": Treatment.TEXT},
    "fan_out": {"namespace": Treatment.NAMESPACE, "name": Treatment.NAME},
    "task_failures": {"failures": Treatment.TEXTS},
    "marker": {"text": Treatment.TEXT},
    "live_server": {
        "context": Treatment.EMPTY,
        "url": Treatment.EMPTY,
        "denied": Treatment.EMPTY,  # quotes the user
    },
    "live_status": {"problem": Treatment.TEXT},
    "live_replica": {"webhooks": Treatment.EMPTY},
    "live_down": {"reason": Treatment.TEXT},
    "live_level": {"level": Treatment.LEVEL},
    "live_requests": {"requests": Treatment.RUNNING},
    "live_levels": {"levels": Treatment.EMPTY, "queues": Treatment.EMPTY},  # names of levels
    "audit_resource": {"clients": Treatment.EMPTY},
    "live_flow_config": {"schemas": Treatment.EMPTY, "levels": Treatment.EMPTY},  # names, users, groups
}

_COST = " ".join(FIGURES)
_KEPT = {
    "server": "ktui_version kube_version etcd_version etcd_kind writable progress pid feature_gates",
    "request_started": "id verb resource",
    "request_routed": "id route reason_id reason limit_honoured consistency wait",
    "request_finished": (
        f"id status route reason_id ms phases {_COST} seats peak_held process_growth shared "
        "initial initial_bytes initial_ms rv untold"
    ),
    "etcd_call": "op request_id purpose count sent_bytes received_bytes ms revision",
    "toll": "rpcs sent_bytes received_bytes",
    "etcd_health": "ok alarm stream_recheck_at",
    "progress": "head compact db_bytes in_use_bytes histories",
    "cache": (
        "resource state rv objects bytes json_bytes json_evicted oldest_rv capacity buffered events watchers "
        "waiting snapshots loaded loaded_bytes expected progress_requests stale_since "
        "check check_ms check_objects check_bytes checked_at"
    ),
    "progress_tick": "resource rv",
    "prefix": "resource count bytes exact low high leased",
    "watcher_opened": "id resource since form route timeout seats observed",
    "watcher": (
        "id resource buffered capacity delivered bookmarks made shared live bytes initial initial_bytes "
        f"initial_ms {_COST}"
    ),
    "watcher_closed": "id resource delivered bookmarks made shared",
    "fan_out": (
        "resource change rv previous_rv watchers concerned delivered leaving tables plain_forms table_forms "
        "encodings"
    ),
    "task_failures": "",
    "dropped": "count",
    "marker": "severity cost",
    "live_server": "origin version expected gates not_ready",
    "live_status": "source interval requests received_bytes busy_ms",
    "live_replica": (
        "replica version started page_bytes page_lines ms memory_bytes storage_bytes hidden_metrics reading "
        "writing cpu_seconds tls_errors plugins"
    ),
    "live_down": "replica",
    "live_resource": "replica resource counters gauges",
    "live_level": "replica counters gauges",
    "live_requests": "replica",
    "live_levels": "replica",
    "live_flow_config": "",
    "audit_resource": "resource requests lists span",
    "live_probe": "replica resource cache_rv newest_rv ms",
}

# By event type, then field. Every event keeps `seq` and `at`.
TABLE: dict[str, dict[str, Treatment]] = {
    tag: {
        **dict.fromkeys(("seq", "at"), Treatment.KEEP),
        **dict.fromkeys(kept.split(), Treatment.KEEP),
        **_SPECIAL.get(tag, {}),
    }
    for tag, kept in _KEPT.items()
}
