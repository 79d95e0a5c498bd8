"""`ktui rules`: what the rules look like by version, and, by Prometheus' own promtool, when they fire.

promtool is in Debian's package `prometheus`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ktui.cli.main import main
from ktui.cli.rules import OLDEST_MINOR
from ktui.core.live.finding_kinds import KINDS
from ktui.kube.gates import NEWEST_MINOR
from ktui.live.alerts import LabelMatchersError, PromQueries, alert_rules, left_out
from ktui.live.exposition import Exposition
from ktui.live.families import WANTED
from tests.unit.live.recorded import IDLE, answers

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="there is no promtool on PATH (Debian's package prometheus)"
)
MINORS = (24, 30, 33, 34, 36, 37)
STEP, SAMPLES = 30, 100  # seconds between samples, and their number: 50 minutes
UP = "up"
Values = Iterable[float | None]
Case = dict[str, Values]


def rules(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["rules", *words]) == 0
    return capsys.readouterr().out


def name_of(finding: str) -> str:
    return "KubeAPI" + "".join(word.capitalize() for word in finding.split("-"))


# What the documents have.


@pytest.mark.parametrize("minor", range(OLDEST_MINOR, NEWEST_MINOR + 1))
def test_a_rule_is_printed_or_said_to_be_left_out(capsys: pytest.CaptureFixture[str], minor: int) -> None:
    text = rules(capsys, "--plain", "--kube-version", f"1.{minor}")
    (group,) = yaml.safe_load(text)["groups"]
    printed = {rule["labels"]["finding"] for rule in group["rules"]}
    absent = {line.split()[1] for line in text.splitlines() if " is left out: " in line}
    assert len(printed | absent) == 11
    assert not printed & absent
    assert printed | absent <= set(KINDS)
    assert all(line.startswith("# ") for line in text.splitlines() if "left out" in line)
    for rule in group["rules"]:
        kind = KINDS[rule["labels"]["finding"]]
        assert rule["alert"] == name_of(kind.id)
        assert rule["labels"]["severity"] == kind.severity.name.lower()
        assert rule["annotations"]["metric"] == kind.metric
        assert rule["annotations"]["description"]
        assert kind.title in rule["annotations"]["summary"]


def test_what_versions_lack() -> None:
    assert len(list(left_out(24))) == 7
    assert list(left_out(36)) == [
        "consistent-read-rejected is left out: Kubernetes 1.36 has no "
        'apiserver_watch_cache_consistent_read_total{fallback="skipped"} (from 1.37 on)',
        "cache-cannot-fill is left out: Kubernetes 1.36 has no "
        "apiserver_watch_cache_initialization_errors_total (from 1.37 on)",
    ]
    assert list(left_out(37)) == []


def test_a_prometheus_rule_has_the_same_groups(capsys: pytest.CaptureFixture[str]) -> None:
    whole = yaml.safe_load(rules(capsys, "--kube-version", "1.33"))
    assert (whole["apiVersion"], whole["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert whole["spec"] == yaml.safe_load(rules(capsys, "--format", "groups", "--kube-version", "1.33"))
    assert whole["spec"] == yaml.safe_load(rules(capsys, "--plain", "--kube-version", "v1.33.4"))


def test_a_selector_is_in_every_series(capsys: pytest.CaptureFixture[str]) -> None:
    text = rules(capsys, "--plain", "--selector", 'job="apiserver", region=~"eu-.*"')
    for rule in yaml.safe_load(text)["groups"][0]["rules"]:
        series = re.findall(r"\b(?:up|apiserver_\w+|process_\w+)\b.{0,17}", rule["expr"])
        assert series
        assert [found for found in series if '{job="apiserver"' not in found] == [], rule["expr"]
        assert rule["expr"].count('region=~"eu-.*"') == len(series)


@pytest.mark.parametrize(
    "selector",
    ['job="a"}', "job=a", 'job="a" or vector(1)', ',job="a"', 'a="b",,c="d"', "job", '"a"="b"', "\n"],
)
def test_a_selector_that_is_none(capsys: pytest.CaptureFixture[str], selector: str) -> None:
    assert main(["rules", "--selector", selector]) == 2
    assert "are not label matchers" in capsys.readouterr().err
    with pytest.raises(LabelMatchersError):
        PromQueries(36, selector)


def test_versions_without_known_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--kube-version", "1.23"]) == 2
    assert "from Kubernetes 1.24 on" in capsys.readouterr().err
    assert main(["rules", "--kube-version", "1.99"]) == 2


def panels(capsys: pytest.CaptureFixture[str], minor: int) -> list[dict[str, Any]]:
    document = json.loads(rules(capsys, "--dashboard", "--kube-version", f"1.{minor}"))
    assert document["description"].startswith("Made by ktui ")
    found: list[dict[str, Any]] = document["panels"]
    return found


def test_a_dashboard_has_a_panel_for_each_rule_and_none_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    found = panels(capsys, 36)
    assert len(found) == len(alert_rules(PromQueries(36))) + 1
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in found]
    assert len(set(places)) == len(found) == len({panel["id"] for panel in found})
    assert all(target["expr"] and target["legendFormat"] for panel in found for target in panel["targets"])


# When they fire.


def labelled(metric: str, minor: int, resource: str = "pods", replica: int = 0, **labels: str) -> str:
    """The name of a series of a resource, with the labels that the minor has."""
    found = {"job": "apiserver", "instance": f"10.0.0.{replica}:6443", **labels}
    if resource:
        plural, _, group = resource.partition(".")
        found |= {"group": group, "resource": plural} if minor >= 34 else {"resource": resource}
    return metric + "{" + ",".join(f'{name}="{value}"' for name, value in found.items()) + "}"


def up(minor: int, first: int = 0) -> Case:
    """A server that Prometheus has scraped from the sample `first` on."""
    return {labelled(UP, minor, ""): [0.0] * first + [1.0] * (SAMPLES - first)}


def growing(each: float, begin: int = 0) -> Values:
    """A counter that grows by `each` per sample; from `begin` on it is there."""
    return [None if at < begin else each * (at - begin) for at in range(SAMPLES)]


def once(at: int, value: float = 1.0) -> Values:
    """A counter that has no line before its first event."""
    return [None if sample < at else value for sample in range(SAMPLES)]


def flat(value: float) -> Values:
    return [value] * SAMPLES


def storage(metric: str, minor: int, resource: str = "pods", replica: int = 0) -> str:
    place = {"storage": "etcd"} if minor >= 37 else {}
    return labelled(f"apiserver_storage_list_{metric}_objects_total", minor, resource, replica, **place)


def objects(minor: int, count: int, resource: str = "pods", replica: int = 0) -> Case:
    name = "apiserver_resource_objects" if minor >= 34 else "apiserver_storage_objects"
    return {labelled(name, minor, resource, replica): flat(count)}


CHECKS = "apiserver_storage_consistency_checks_total"
CONSISTENT = "apiserver_watch_cache_consistent_read_total"
WAITS = "apiserver_watch_cache_read_wait_seconds"


def checked(minor: int, count: int) -> Case:
    """Two replicas that compare a cache of `count` objects every six minutes; a scrape falls in between."""
    series: Case = {}
    for replica in (0, 1):
        every, late = 12, 5 + replica
        done = [max(0, at - late) // every for at in range(SAMPLES)]
        read = [max(0, at + 1 - late) // every for at in range(SAMPLES)]
        series |= {
            storage("fetched", minor, "pods", replica): [count * n for n in read],
            labelled(CHECKS, minor, "pods", replica, status="success"): [float(n) for n in done],
            **objects(minor, count, "pods", replica),
        }
    return series


def waits(minor: int, per_sample: float, seconds: float, late: float = 0.0) -> Case:
    """Reads that waited for the cache: `per_sample` of them, `seconds` each, `late` of them over a second."""
    return {
        labelled(f"{WAITS}_sum", minor): growing(per_sample * seconds),
        labelled(f"{WAITS}_count", minor): growing(per_sample),
        labelled(f"{WAITS}_bucket", minor, le="1"): growing(per_sample - late),
        labelled(f"{WAITS}_bucket", minor, le="+Inf"): growing(per_sample),
    }


def lists_in_memory(minor: int, memory: float) -> Case:
    """A LIST of 20 MB a second that takes 5 s: 100 MB."""
    request = {"verb": "LIST", "version": "v1", "scope": "cluster"}
    took = "apiserver_request_duration_seconds"
    return {
        labelled("apiserver_response_sizes_sum", 34, **request): growing(20e6 * STEP),
        labelled(f"{took}_sum", 34, **request, dry_run=""): growing(5.0 * STEP),
        labelled(f"{took}_count", 34, **request, dry_run=""): growing(STEP),
        labelled("process_resident_memory_bytes", minor, ""): flat(memory),
    }


def level(metric: str, **labels: str) -> str:
    return labelled(f"apiserver_flowcontrol_{metric}", 0, "", priority_level="workload-low", **labels)


def cases(minor: int) -> Iterator[tuple[str, Case, int, set[str]]]:
    """What is there, at which minute, and which findings' rules fire then."""
    fallback = labelled(CONSISTENT, minor, success="false", fallback="true")
    yield "a first fallback", {fallback: once(40), **up(minor)}, 22, {"consistent-read-fallback"}
    yield "a fallback long ago", {fallback: once(40), **up(minor)}, 45, set()
    yield "a fallback before Prometheus began", {fallback: flat(3), **up(minor)}, 5, set()
    yield "a Prometheus that was away", {fallback: once(40, 3.0), **up(minor, 40)}, 22, set()
    yield (
        "further fallbacks", {fallback: [float(at > 40) + 7 for at in range(SAMPLES)], **up(minor)}, 23,
        {"consistent-read-fallback"},
    )  # fmt: skip
    yield "consistent reads", {
        labelled(CONSISTENT, minor, success="true", fallback="false"): growing(50), **up(minor)
    }, 30, set()  # fmt: skip
    rejected = labelled(CONSISTENT, minor, success="false", fallback="skipped")
    yield "a 429 of a late cache", {rejected: once(40), **up(minor)}, 22, {"consistent-read-rejected"}

    storm: Case = {storage("fetched", minor): growing(15_000), **objects(minor, 5_000), **up(minor)}
    yield "a LIST of 5,000 pods from etcd every 10 s", storm, 30, {"etcd-lists"}
    yield "the same for 9 minutes", {**storm, storage("fetched", minor): once_growing(60, 15_000)}, 38, set()
    slow: Case = {storage("fetched", minor): growing(2_500), **objects(minor, 5_000), **up(minor)}
    yield "a LIST of 5,000 pods every minute", slow, 40, set()
    yield "events", {storage("fetched", minor, "events"): growing(90_000), **up(minor)}, 40, set()
    if minor >= 33:
        yield "checks of 100,000 pods, no clients", {**checked(minor, 100_000), **up(minor)}, 40, set()
        both = checked(minor, 5_000)
        fetched = storage("fetched", minor)
        both[fetched] = [
            (own or 0) + 15_000 * at for at, own in enumerate(both[fetched])
        ]  # fmt: skip
        yield "checks and LISTs of clients", {**both, **up(minor)}, 40, {"etcd-lists"}

    failed = labelled(CHECKS, minor, status="failure")
    yield "a cache that differs", {failed: once(40), **up(minor)}, 22, {"cache-inconsistent"}
    errors = labelled(CHECKS, minor, status="error")
    yield "checks that end with errors", {errors: growing(1 / 12), **up(minor)}, 49, {"cache-check-error"}
    agreed = {labelled(CHECKS, minor, status="success"): growing(1 / 6)}
    yield "fewer errors than checks", {errors: growing(1 / 12), **agreed, **up(minor)}, 49, set()

    yield "waits of 0.3 s", {**waits(minor, 10, 0.3), **up(minor)}, 30, {"slow-consistent-reads"}
    yield "one in fifty waits is late", {**waits(minor, 10, 0.05, 0.2), **up(minor)}, 30, {
        "slow-consistent-reads"
    }  # fmt: skip
    yield "short waits", {**waits(minor, 10, 0.02, 0.05), **up(minor)}, 30, set()
    yield "few waits", {**waits(minor, 0.5, 2.0, 0.5), **up(minor)}, 40, set()
    timed_out = {fallback: growing(1), **waits(minor, 10, 2.0, 9), **up(minor)}
    yield "waits that time out", timed_out, 30, (
        {"consistent-read-fallback"} if minor >= 31 else {"slow-consistent-reads"}
    )  # fmt: skip

    fill = labelled("apiserver_watch_cache_initialization_errors_total", minor, "widgets.example.com")
    yield "a cache that cannot be filled", {fill: growing(1, 40), **up(minor)}, 22, {"cache-cannot-fill"}
    ended = labelled("apiserver_terminated_watchers_total", minor)
    yield "slow WATCHes", {ended: once(40, 4.0), **up(minor)}, 22, {"slow-watchers"}
    yield "no slow WATCH for long", {ended: flat(4), **up(minor)}, 45, set()
    yield "LISTs that hold 20 % of the memory", lists_in_memory(minor, 500e6), 40, {"list-memory"}
    yield "LISTs that hold 2 % of the memory", lists_in_memory(minor, 5e9), 40, set()

    refused = level("rejected_requests_total", flow_schema="service-accounts", reason="queue-full")
    yield "429 for ten minutes", {refused: growing(2, 20), **up(minor)}, 22, {"rejected"}
    yield "one burst of 429", {refused: once(20, 50.0), **up(minor)}, 13, set()
    queued = level("current_inqueue_requests", flow_schema="service-accounts")
    yield "a queue that is never empty", {queued: flat(3)}, 15, {"queue-never-empty"}
    sometimes = [float(at % 10 != 0) * 3 for at in range(SAMPLES)]
    yield "a queue that is empty at times", {queued: sometimes}, 45, set()


def once_growing(begin: int, each: float) -> Values:
    return [max(0, at - begin) * each for at in range(SAMPLES)]


def written(values: Values) -> str:
    return " ".join(
        "_" if value is None else f"{value:g}" if value < 1e5 else f"{value:.0f}" for value in values
    )


def firing(case: Case, minute: int, alerts: set[str], title: str) -> dict[str, Any]:
    """A test of promtool's: these alerts fire at this minute, and no others."""
    samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(alerts)]
    return {
        "name": title,
        "interval": f"{STEP}s",
        "input_series": [{"series": name, "values": written(values)} for name, values in case.items()],
        "promql_expr_test": [
            {
                "expr": 'group by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": f"{minute}m",
                "exp_samples": samples,
            }
        ],
    }


def promtool(folder: Path, *words: str) -> str:
    """Run promtool; return what it says, "" if all is well."""
    done = subprocess.run([str(PROMTOOL), *words], capture_output=True, text=True, cwd=folder, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def promtool_says(folder: Path, text: str, tests: list[dict[str, Any]]) -> str:
    (folder / "rules.yaml").write_text(text)
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (folder / "tests.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
    return promtool(folder, "test", "rules", "tests.yaml")


@needs_promtool
@pytest.mark.slow
@pytest.mark.parametrize("minor", MINORS)
def test_rules_fire_when_they_must_and_only_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], minor: int
) -> None:
    text = rules(capsys, "--plain", "--kube-version", f"1.{minor}")
    there = {rule.kind.id for rule in alert_rules(PromQueries(minor))}
    fired: set[str] = set()
    tests = []
    for title, case, minute, findings in cases(minor):
        fired |= findings & there
        tests.append(firing(case, minute, {name_of(finding) for finding in findings & there}, title))
    assert fired == there, "each rule has a case in which it fires"
    assert promtool_says(tmp_path, text, tests) == ""


@needs_promtool
def test_a_wrong_expectation_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = rules(capsys, "--plain")
    title, case, minute, _ = next(cases(36))
    assert "FAILED" in promtool_says(tmp_path, text, [firing(case, minute, set(), title)])
    assert "FAILED" in promtool_says(tmp_path, text, [firing(case, minute, {"KubeAPIRejected"}, title)])


@needs_promtool
def test_what_an_alert_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = rules(capsys, "--plain", "--selector", 'job="apiserver"')
    failure = labelled(CHECKS, 36, "deployments.apps", status="failure")
    test = firing({failure: once(40), **up(36)}, 22, {"KubeAPICacheInconsistent"}, "annotations")
    test["alert_rule_test"] = [
        {
            "eval_time": "22m",
            "alertname": "KubeAPICacheInconsistent",
            "exp_alerts": [
                {
                    "exp_labels": {"severity": "critical", "finding": "cache-inconsistent", "group": "apps",
                                   "resource": "deployments"},
                    "exp_annotations": {
                        "summary": "deployments.apps: the watch cache differs from etcd (1 in 10 minutes)",
                        "description": KINDS["cache-inconsistent"].advice,
                        "metric": KINDS["cache-inconsistent"].metric,
                    },
                }
            ],
        }
    ]  # fmt: skip
    assert promtool_says(tmp_path, text, [test]) == ""


def idle_series() -> Case:
    """Two real idle servers 1.36: their metrics at five moments, each for three minutes."""
    series: dict[str, list[float | None]] = {}
    for replica in (0, 1):
        for moment, answer in enumerate(answers(replica, "/metrics", "admin", IDLE)):
            page = Exposition(WANTED)
            page.feed(answer[2])
            page.finish()
            for name, labels, value in page.samples:
                more = {**labels, "job": "apiserver", "instance": str(replica)}
                key = (
                    name + "{" + ",".join(f"{label}={json.dumps(text)}" for label, text in more.items()) + "}"
                )
                values = series.setdefault(key, [None] * (moment * 6))
                values += [value] * 6
        series[labelled(UP, 36, "").replace("10.0.0.0:6443", str(replica))] = [1.0] * len(values)
    return dict(series)


@needs_promtool
@pytest.mark.slow
def test_two_real_idle_servers_fire_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = idle_series()
    assert len(case) > 500
    text = rules(capsys, "--plain", "--kube-version", "1.36")
    case = {name: values for name, values in case.items() if name.partition("{")[0] in text}
    test = firing(case, 3, set(), "idle")
    (first,) = test["promql_expr_test"]
    test["promql_expr_test"] += [{**first, "eval_time": f"{minute}m"} for minute in (8, 12, 14)]
    assert promtool_says(tmp_path, text, [test]) == ""


@needs_promtool
@pytest.mark.parametrize("minor", MINORS)
def test_promtool_accepts_the_rules_and_every_query_of_the_dashboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], minor: int
) -> None:
    (tmp_path / "rules.yaml").write_text(rules(capsys, "--plain", "--kube-version", f"1.{minor}"))
    assert promtool(tmp_path, "check", "rules", "rules.yaml") == ""
    queries = [target["expr"] for panel in panels(capsys, minor) for target in panel["targets"]]
    records = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(queries)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert promtool(tmp_path, "check", "rules", "panels.yaml") == ""
