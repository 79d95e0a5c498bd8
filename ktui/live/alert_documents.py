"""Alert rules as documents: a PrometheusRule, plain rule groups, a Grafana dashboard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from ktui.live.alerts import AlertRule, PromQueries

Document = dict[str, Any]
GROUP = NAME = "ktui-read-path"
_WIDTH, _HEIGHT = 12, 8  # of a panel, in Grafana's grid of 24 columns
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def rule_groups(rules: Iterable[AlertRule]) -> Document:
    """Return what a rule file of Prometheus has."""
    return {"groups": [{"name": GROUP, "rules": [_rule(rule) for rule in rules]}]}


def prometheus_rule(rules: Iterable[AlertRule]) -> Document:
    """Return a PrometheusRule of the Prometheus Operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": NAME, "labels": {"app.kubernetes.io/name": "ktui"}},
        "spec": rule_groups(rules),
    }


def _rule(rule: AlertRule) -> Document:
    wait = {} if rule.wait == "0m" else {"for": rule.wait}
    return {
        "alert": rule.name,
        "expr": rule.expr,
        **wait,
        "labels": {"severity": rule.severity, "finding": rule.kind.id},
        "annotations": {"summary": rule.summary, "description": rule.advice, "metric": rule.kind.metric},
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, as rule files are written by hand."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(document: Document, remarks: Iterable[str]) -> str:
    """Return a document as YAML after comments."""
    comments = "".join(f"# {remark}\n" for remark in remarks)
    return comments + yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000)


def dashboard(rules: Sequence[AlertRule], queries: PromQueries, remarks: Iterable[str]) -> Document:
    """Return a Grafana dashboard: what LISTs read from cache and etcd, and the measure of each rule."""
    panels = [
        _panel("Objects that LISTs read, by place", _by_place(queries), "short", "all LISTs, those of "
               "kube-apiserver itself included"),
        _panel("Objects that clients' LISTs read from etcd", [(queries.by_clients(), "{{resource}}")],
               "short", "per second, consistency checks of the watch caches not counted"),
        *(
            _panel(rule.title, [(rule.measure, rule.legend)], rule.unit, rule.advice)
            for rule in rules
            if rule.kind.id != "etcd-lists"
        ),
    ]  # fmt: skip
    for number, panel in enumerate(panels):
        column, row = number % 2 * _WIDTH, number // 2 * _HEIGHT
        panel |= {"id": number + 1, "gridPos": {"x": column, "y": row, "w": _WIDTH, "h": _HEIGHT}}
    return {
        "title": f"Kubernetes read path (1.{queries.minor})", "uid": f"{NAME}-1-{queries.minor}",
        "description": "\n".join(remarks), "tags": ["kubernetes", "ktui"], "schemaVersion": 39,
        "editable": True, "refresh": "1m", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": panels,
    }  # fmt: skip


def _by_place(queries: PromQueries) -> list[tuple[str, str]]:
    """Return queries of the objects that LISTs read from the cache and from etcd per second."""
    storage, cache = (f"apiserver_{where}_list_fetched_objects_total" for where in ("storage", "cache"))
    if queries.minor >= 37:  # the LISTs of both have one name and a storage label
        places = (queries.of(storage, 'storage="watchcache"'), queries.of(storage, 'storage="etcd"'))
    else:
        places = (queries.of(cache), queries.of(storage))
    return [
        (f"sum by (cluster) (rate({series}[5m]))", legend)
        for series, legend in zip(places, ("watch cache", "etcd"), strict=True)
    ]


def _panel(title: str, targets: Iterable[tuple[str, str]], unit: str, description: str) -> Document:
    return {
        "type": "timeseries", "title": title, "description": description, "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "table", "placement": "right", "calcs": ["max"]}},
        "targets": [
            {"refId": "ABC"[number], "datasource": _SOURCE, "expr": expr, "legendFormat": legend}
            for number, (expr, legend) in enumerate(targets)
        ],
    }  # fmt: skip
