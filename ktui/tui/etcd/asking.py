"""Where the etcd screen asks: paths below `/ktui/v1/etcd`."""

from __future__ import annotations

from urllib.parse import quote


def prefixes_path(prefix: str) -> str:
    return f"/ktui/v1/etcd/prefixes?prefix={quote(prefix)}"


def keys_path(prefix: str, limit: int, after: str) -> str:
    start = f"&after={quote(after)}" if after else ""
    return f"/ktui/v1/etcd/keys?prefix={quote(prefix)}&limit={limit}{start}"


def key_path(key: str, reveal: bool, revision: int = 0) -> str:
    at = f"&revision={revision}" if revision else ""
    return f"/ktui/v1/etcd/key?key={quote(key)}{at}{'&reveal=1' if reveal else ''}"


def history_path(key: str, limit: int) -> str:
    return f"/ktui/v1/etcd/history?key={quote(key)}&limit={limit}"
