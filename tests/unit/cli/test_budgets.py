"""Budgets of logs, and the forms of the report: text, JSON, JUnit, Markdown, a written file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ktui.audit.formats.log_record import LoggedRequest
from ktui.cli.budgets.budget_report import BudgetReport, junit, markdown_report
from ktui.cli.main import main
from ktui.core.budgets.budget_file import RequestBudget, read_budgets
from ktui.core.budgets.judge import BudgetJudge
from ktui.core.budgets.judged_requests import JudgedRequest
from tests.unit.audit.logs import audit_event

AT = 1_787_475_354_000_000
HOSTILE = "\x1b[31m\u202eevil|`<b>&]]>\ufffe\n"


def logged(uri: str, *, verb: str = "list", agent: str = "controller/v1 (linux)", at: int = 0) -> bytes:
    return audit_event(LoggedRequest(verb, uri, agent, "system:admin", AT + at * 1_000_000, 900, 200))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    lines = [
        logged("/api/v1/pods?labelSelector=app%3Dweb&resourceVersion=0"),
        logged("/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact", at=1),
        logged("/api/v1/pods?watch=true&resourceVersion=7", verb="watch", at=2),
        logged("/api/v1/pods?resourceVersion=0", at=90),
        logged("/api/v1/namespaces/a/secrets/b", verb="get", agent="kubectl/v1", at=95),
        logged("/api/v1/namespaces/a/pods/b/status", verb="patch", at=96),
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


@pytest.fixture
def audit(capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path) -> Any:
    def run(budgets: str, *args: object) -> tuple[int, str, str]:
        file = tmp_path / "budgets.toml"
        file.write_text(budgets)
        status = main(["audit", str(log), "--budget", str(file), *map(str, args)])
        return status, *capsys.readouterr()

    return run


def test_the_requests_of_a_log_are_judged_exceeded_budgets_first(audit: Any) -> None:
    status, out, err = audit(
        """
[[budget]]
client = "kubectl"
max = 1
[[budget]]
client = "re:control.*"
verb = "list"
resource = "pods"
max = 2
max_per_minute = 2
[[budget]]
verb = "list"
route = "etcd"
max = 0
[[budget]]
verb = "watch"
max_relists = 0
[[budget]]
client = "kubelet"
max = 4
[[budget]]
resource = "pods/status"
max = 1
""",
        "--kube-version",
        "1.30",
    )
    assert (status, err) == (1, "")
    first, *_ = out.splitlines()
    assert first.startswith("3 of 6 budgets exceeded: 6 requests of ")
    assert [line.split(" (")[0] for line in out.splitlines() if line.startswith("EXCEEDED")] == [
        "EXCEEDED    any client LIST from etcd",
        "EXCEEDED    any client WATCH",
        "EXCEEDED    re:control.* LIST pods",
    ]
    assert "requests: 3, allowed 2" in out
    assert "LIST /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact from etcd (predicted)" in out
    assert "by controller (3 requests)" in out
    assert "no match    kubelet all verbs" in out
    assert "matched nothing; clients seen: controller, kubectl" in out
    assert "is predicted for Kubernetes 1.30 (--kube-version)" in out
    assert out.index("EXCEEDED") < out.index("ok  ") < out.index("predicted for")


def test_within_the_budgets(audit: Any) -> None:
    status, out, err = audit('[[budget]]\nclient = "controller"\nmax = 5\n')
    assert (status, err) == (0, "")
    assert out.startswith("no budget exceeded: 6 requests of ")
    assert "5 of 5 requests\n" in out
    assert "1 request in no budget: kubectl GET secrets (1)" in out


def test_limits_that_an_audit_log_cannot_tell_are_not_judged(audit: Any) -> None:
    status, out, _ = audit('[[budget]]\nclient = "controller"\nmax_objects = 5\n')
    assert status == 0
    assert "not judged controller" in " ".join(out.split())
    assert "not every request has the figure of max_objects" in out


def test_the_version_decides_the_predicted_route(audit: Any) -> None:
    budget = '[[budget]]\nroute = "etcd"\nverb = "get"\nmax = 0\n'
    assert audit(budget, "--kube-version", "1.36")[0] == 1  # a GET without resourceVersion
    assert audit(budget.replace('"get"', '"watch"'))[0] == 0


def test_json_markdown_and_junit(audit: Any, tmp_path: Path) -> None:
    budget = '[[budget]]\nclient = "controller"\nmax = 1\n[[budget]]\nclient = "gone"\nmax = 1\n'
    status, out, _ = audit(budget, "--json", "--junit", tmp_path / "j.xml")
    document = json.loads(out)
    assert (status, document["exceeded"], document["requests"]) == (1, 1, 6)
    assert document["budgets"][0]["breaches"][0]["actual"] == 5
    assert [entry["state"] for entry in document["budgets"]] == ["exceeded", "no match"]
    cases = ElementTree.parse(tmp_path / "j.xml").findall(".//testcase")
    assert [[child.tag for child in case] for case in cases] == [["failure"], ["skipped"]]
    status, out, _ = audit(budget, "--markdown")
    assert status == 1
    assert out.count("❌ exceeded") == 1


def test_a_budget_written_from_a_log_is_kept_by_it(audit: Any, log: Path, tmp_path: Path) -> None:
    file = tmp_path / "made.toml"
    assert main(["audit", str(log), "--write-budget", str(file), "--headroom", "0%"]) == 0
    made = read_budgets(file)
    assert [(b.client, b.verb, b.resource, b.route) for b in made] == [
        ("controller", "list", "pods", ""),
        ("controller", "list", "pods", "etcd"),
        ("controller", "patch", "pods/status", ""),
        ("controller", "watch", "pods", ""),
        ("kubectl", "get", "secrets", ""),
    ]
    assert audit(file.read_text())[0] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--write-budget", "x"], "--budget and --write-budget exclude each other"),
        (["--csv"], "leave out --csv"),
        (["--partial", "x"], "leave out --partial"),
        (["--follow"], "leave out --follow"),
        (["--requests"], "leave out --requests"),
        (["--sampling", "100"], "needs every request"),
        (["--junit", "/nowhere/j.xml"], "there is no directory /nowhere"),
        (["--headroom", "much"], "'much' is not a percentage"),
    ],
)
def test_what_cannot_go_together(
    audit: Any, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    try:
        status, out, err = audit("[[budget]]\nmax = 1\n", *words)
    except SystemExit as ended:
        status, (out, err) = ended.code, capsys.readouterr()  # type: ignore[assignment]
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--budget", "b"], "name a log FILE"),
        (["merge", "x.part", "--budget", "b"], "leave out merge"),
        (["x.log", "--junit", "j.xml"], "add --budget FILE"),
    ],
)
def test_what_is_missing(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert main(["audit", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_mistake_in_the_file_is_said_before_the_log_is_read(audit: Any, log: Path) -> None:
    log.unlink()
    status, out, err = audit("[[budget]]\nmaxx = 1\n")
    assert (status, out) == (2, "")
    assert "budgets.toml:2: unknown key 'maxx'; did you mean 'max'?" in err


def test_a_log_without_requests_is_an_error(audit: Any, log: Path) -> None:
    log.write_text("{}\n")
    status, _, err = audit("[[budget]]\nmax = 1\n")
    assert status == 1
    assert "no request for a resource was found" in err


def test_hostile_text_is_never_markup(capsys: pytest.CaptureFixture[str]) -> None:
    from ktui.cli.budgets.budget_report import print_report

    judge = BudgetJudge(
        [RequestBudget(HOSTILE, limits={"max": 0}), RequestBudget("idle" + HOSTILE, limits={"max": 1})]
    )
    judge.add(JudgedRequest(0.0, HOSTILE, HOSTILE, HOSTILE, "/api/" + HOSTILE, "cache", 1, 1, 1))
    report = BudgetReport(judge.verdict(), HOSTILE, HOSTILE, status=-9)
    root = ElementTree.fromstring(junit(report))
    assert root.find("testsuite").get("failures") == "2"  # type: ignore[union-attr]
    table = markdown_report(report)
    print_report(report)
    for text in (junit(report), table, capsys.readouterr().out):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert not [line for line in table.splitlines() if line.startswith("|") and line.count(" | ") != 4]
    assert "<b>" not in table.replace("\\<b\\>", "")
