"""`ktui rules`: what the rules look like by version, and, by Prometheus' own promtool, when they fire.

promtool is in Debian's package `prometheus`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ktui.cli.main import main
from ktui.cli.usage.live import OLDEST_MINOR
from ktui.client.metrics_page import Exposition
from ktui.core.live.resource_findings import KINDS
from ktui.kube.gates import NEWEST_MINOR
from ktui.live.alerts import LabelMatchersError, PromQueries, alert_rules, left_out
from ktui.live.families import WANTED
from tests.unit.live.alert_cases import CHECKS, STEP, UP, Case, Values, cases, labelled, once, up
from tests.unit.live.recorded import IDLE, answers

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="there is no promtool on PATH (Debian's package prometheus)"
)
MINORS = (24, 30, 33, 34, 36, 37)


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
        "list-memory is left out: Kubernetes 1.36 streams the answers of LISTs (from 1.33 on)",
    ]
    assert [line.split()[0] for line in left_out(37)] == ["list-memory"]
    assert "list-memory" not in {line.split()[0] for line in left_out(32)}


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
    # The database that it makes for each test is garbage after it: collected late, a quarter less CPU time.
    env = {**os.environ, "GOGC": "off", "GOMEMLIMIT": "300MiB"}
    done = subprocess.run(
        [str(PROMTOOL), *words], capture_output=True, text=True, cwd=folder, env=env, check=False
    )
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
