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


_COST = " ".join(FIGURES)
# By event type: its fields, with the treatment of those that are not just kept.
_FIELDS = {
    "server": (
        "ktui_version kube_version etcd_version etcd_kind writable progress pid feature_gates filling "
        "endpoints:HOSTS etcd_prefix:ETCD_PREFIX warnings:TEXTS "
        "name:EMPTY"  # a host, a file, a context
    ),
    "request_started": (
        "id verb resource path:PATH query:QUERY namespace:NAMESPACE name:NAME client:CLIENT "
        "user_agent:CLIENT accept:ACCEPT user:USER level:LEVEL peer:PEER flow_schema:LEVEL audit_id:EMPTY "
        "chain:EMPTY"
    ),
    "request_routed": "id route reason_id reason limit_honoured consistency wait steps:TEXTS",
    "request_finished": (
        f"id status route reason_id ms phases {_COST} seats peak_held process_growth shared "
        "initial initial_bytes initial_ms rv untold error:TEXT chain:EMPTY"
    ),
    "etcd_call": "op request_id purpose count sent_bytes received_bytes ms revision request:KEYS error:TEXT",
    "toll": "rpcs sent_bytes received_bytes",
    "etcd_health": "ok alarm stream_recheck_at detail:TEXT",
    "progress": "head compact db_bytes in_use_bytes histories",
    "cache": (
        "resource state rv objects bytes json_bytes json_evicted oldest_rv capacity buffered events watchers "
        "waiting snapshots loaded loaded_bytes expected progress_requests stale_since "
        "check check_ms check_objects check_bytes checked_at error:TEXT check_detail:TEXT"
    ),
    "progress_tick": "resource rv",
    "prefix": "resource count bytes exact low high leased prefix:KEY",
    "watcher_opened": (
        "id resource since form route timeout seats observed client:CLIENT namespace:NAMESPACE name:NAME "
        "selector:SELECTOR"
    ),
    "watcher": (
        "id resource buffered capacity delivered bookmarks made shared live bytes initial initial_bytes "
        f"initial_ms {_COST}"
    ),
    "watcher_closed": "id resource delivered bookmarks made shared cause:TEXT",
    "fan_out": (
        "resource change rv previous_rv watchers concerned delivered leaving tables plain_forms table_forms "
        "encodings namespace:NAMESPACE name:NAME"
    ),
    "task_failures": "failures:TEXTS",
    "dropped": "count",
    "marker": "severity cost text:TEXT",
    "live_server": "origin version expected gates not_ready context:EMPTY url:EMPTY denied:EMPTY",
    "live_status": "source interval requests received_bytes busy_ms problem:TEXT",
    "live_replica": (
        "replica version started page_bytes page_lines ms memory_bytes storage_bytes hidden_metrics reading "
        "writing cpu_seconds tls_errors plugins webhooks:EMPTY"
    ),
    "live_down": "replica reason:TEXT",
    "live_resource": "replica resource counters gauges",
    "live_level": "replica counters gauges level:LEVEL",
    "live_requests": "replica requests:RUNNING",
    "live_levels": "replica levels:EMPTY queues:EMPTY",  # names of levels
    "live_flow_config": "schemas:EMPTY levels:EMPTY",  # names, users, groups
    "audit_resource": "resource requests lists span clients:EMPTY",
    "live_probe": "replica resource cache_rv newest_rv ms",
}


def _parsed(fields: str) -> dict[str, Treatment]:
    words = (word.partition(":") for word in f"seq at {fields}".split())
    return {name: Treatment[treatment or "KEEP"] for name, _, treatment in words}


# By event type, then field. Every event keeps `seq` and `at`.
TABLE: dict[str, dict[str, Treatment]] = {tag: _parsed(fields) for tag, fields in _FIELDS.items()}
