"""`ktui bench`: its table, its Markdown, its JSON."""

from dataclasses import replace

import pytest

from ktui.cli.bench import markdown, print_table
from ktui.cli.main import main
from ktui.workloads.benchmark import Bench, Extrapolation, Row
from ktui.workloads.plans import ClientPlan, PlannedList
from tests.unit.cli.measured import measured, runs

PATH = "/api/v1/pods?labelSelector=a|b"


def bench(many: Extrapolation | None = None) -> Bench:
    planned = PlannedList(PATH, "/api/v1/pods", note="asked at \x1b[31mboot", client="agent")
    lists = {"fetched": 1_000, "etcd_bytes": 5_000_000}
    good = Row(planned, runs(measured(PATH, **lists)), runs(measured("/api/v1/pods", "cache", **lists)))
    gone = PlannedList("/apis/cilium.io/v2/ciliumnodes")
    bad = Row(gone, runs(measured(gone.path, "", status=404)))
    plan = ClientPlan("mine", (planned, gone), "about it")
    return Bench(plan, (good, bad), "http://x", "n1", "shop", "1.24", many)


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "cilum-agent"]) == 2
    assert "built in are cilium-agent" in capsys.readouterr().err
    assert main(["bench", "helm", "--attach", "http://127.0.0.1:1"]) == 3


def test_markdown_is_a_table_whatever_stands_in_it() -> None:
    lines = markdown(bench(Extrapolation(10, 20, 2.0))).splitlines()
    table = [line for line in lines if line.startswith("|")]
    columns = {line.replace("\\|", "").count("|") for line in table}
    assert len(columns) == 1, table
    assert r"a\|b" in table[2]
    assert "without its selector" in table[3]
    assert "extrapolated, not measured: 10 agents" in markdown(bench(Extrapolation(10, 20, 2.0)))
    assert "\x1b" not in "".join(lines)


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(bench())
    said = capsys.readouterr().out
    assert "10 of 1,000" in said
    assert "5.0 MB" in said
    assert "404" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("404 page not found", "404 not served here; is its CustomResourceDefinition missing?"),
        ("404 and more", ": 404 and more"),
        ('namespaces "x" not found', '404 namespaces "x" not found'),
    ],
)
def test_a_refusal_says_its_status_once(message: str, said: str) -> None:
    refused = replace(measured(PATH, "", status=404), message=message)
    row = Row(PlannedList(PATH), runs(refused))
    text = markdown(Bench(bench().plan, (row,), "", "", "", "1.24"))
    assert said in text and text.count("404") == 1


@pytest.mark.parametrize("columns", ["80", "90", "120"])
def test_no_terminal_is_too_narrow_for_the_time(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_table(bench())
    said = capsys.readouterr().out
    heads = next(line for line in said.splitlines() if "processed" in line)
    assert heads.split()[-1] == "ms"
    assert ("held" in said) is (columns != "80")


def test_json_has_one_object_a_list() -> None:
    document = bench().document()
    assert [row["path"] for row in document["lists"]] == [PATH, "/apis/cilium.io/v2/ciliumnodes"]
    first = document["lists"][0]
    assert first["without_selector"]["path"] == "/api/v1/pods"
    assert (first["client"], first["bytes"]["processed"]) == ("agent", 5_000_000)
    assert document["extrapolated"] is None
    many = bench(Extrapolation(10, 20, 2.0)).document()["extrapolated"]
    assert (many["agents"], many["nodes"], many["measured"]) == (10, 20, False)
    assert many["processed_bytes"] == 10 * 2 * 5_000_000


def test_it_succeeds_when_anything_was_answered() -> None:
    assert bench().answered
    assert not Bench(bench().plan, bench().rows[1:], "", "", "", "1.24").answered
