"""`ktui observe` and `ktui rbac` from the command line, over a server with recorded pages."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ktui.cli import observe
from ktui.cli.main import main
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, serving

pytestmark = pytest.mark.slow

HANGS = 60.0  # seconds: the bound of a wait that never ends, no measure of speed

Config = Callable[[Recorded, str], str]


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Config:
    """Writes one for a server and a token, and gives its path."""

    def write(recorded: Recorded, token: str = "admin") -> str:
        path = tmp_path / "config"
        document = {
            "current-context": "recorded",
            "clusters": [{"name": "c", "cluster": {"server": recorded.url}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "recorded", "context": {"cluster": "c", "user": "u"}}],
        }
        path.write_text(json.dumps(document))
        return str(path)

    return write


class Turning(Recorded):
    """The last page from the second scrape of a replica on."""

    def answer(self, replica: int, path: str, user: str) -> Answer:
        if path == "/metrics":
            seen = sum(asked == "/metrics" for _, asked in self.requests)
            self.moment = FIRST if seen <= 6 else LAST
        return super().answer(replica, path, user)


def test_the_report(kubeconfig: Config, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Turning()) as recorded:
        status = main(["observe", "--kubeconfig", kubeconfig(recorded, "admin"), "--for", "100ms", "--json"])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert status == 0
    assert document["server"]["version"] == "1.36"
    assert document["replicas"]["reached"] == 2
    assert document["resources"]["pods"]["cache"]["lists"] == 182
    assert document["resources"]["pods"]["etcd"]["lists"] == 0
    assert document["resources"]["events"]["etcd"]["lists"] == 12
    nodes = document["resources"]["ciliumnodes.cilium.io"]
    assert (nodes["lists"], nodes["rejected"], nodes["verbs"]["list"]) == (26, 2, 28)  # by truth.json
    assert {item["id"] for item in document["findings"]} == {"cluster-wide-secrets", "polled"}
    assert document["gates"]["ConsistentListFromCache"] is True
    assert "unencrypted" in err


@pytest.mark.parametrize(("level", "status"), [("critical", 0), ("warning", 1), ("notice", 1)])
def test_fail_on(level: str, status: int, kubeconfig: Config) -> None:
    with serving(Turning()) as recorded:
        words = ["--kubeconfig", kubeconfig(recorded, "admin"), "--for", "100ms", "--fail-on", level]
        assert main(["observe", *words]) == status


def test_the_text(
    kubeconfig: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with serving(Turning()) as recorded:
        assert main(["observe", "--kubeconfig", kubeconfig(recorded, "admin"), "--for", "100ms"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("pods: all 182 LISTs in ")
    assert "2 of 2 replicas" in out
    assert "secrets: 17 LISTs over all namespaces" in out
    assert "ktui's load on the server" in out


def test_without_the_permission(kubeconfig: Config, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Recorded()) as recorded:
        words = ["observe", "--kubeconfig", kubeconfig(recorded, "viewer"), "--for", "100ms", "--json"]
        assert main(words) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "the missing rule is get on /metrics, which the ClusterRole of `ktui rbac` has" in err


@pytest.mark.parametrize("path", ["/version", "/metrics", "/debug"])
def test_a_server_that_never_answers(
    path: str, kubeconfig: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is made, whatever hangs: without a page of metrics it says so.

    6 s: five times the second that a scrape waits for dumps.
    """
    monkeypatch.setattr(observe, "GRACE", 6.0 if path == "/debug" else 0.2)
    ended = threading.Event()

    def override(_: int, asked: str) -> Answer | None:
        if asked.startswith(path):
            ended.wait(HANGS)
        return None

    with serving(Recorded(override=override)) as recorded:
        status = main(["observe", "--kubeconfig", kubeconfig(recorded, "admin"), "--for", "100ms"])
        ended.set()
    out, err = capsys.readouterr()
    assert status == (0 if path == "/debug" else 3)
    assert ("did not answer within" in err) == (path != "/debug" or "the last scrape" in err)
    assert ("replica" in out) == (path == "/debug")


def test_a_failed_page(kubeconfig: Config, capsys: pytest.CaptureFixture[str]) -> None:
    html = (200, "text/html", b"<html>")
    with serving(Recorded(override=lambda _, path: html if path == "/metrics" else None)) as recorded:
        assert main(["observe", "--kubeconfig", kubeconfig(recorded, "admin"), "--for", "100ms"]) == 3
    assert "not Prometheus metrics: it begins with '<html>'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--for", "soon"], 2, "write it like 30s"),
        (["--interval", "10ms"], 2, "at least 1s"),
        (["--kubeconfig", "/nowhere"], 3, "cannot read the kubeconfig /nowhere"),
    ],
)
def test_misuse(words: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        found = main(["observe", *words])
    except SystemExit as left:
        found = int(str(left.code))
    assert found == status
    assert says in capsys.readouterr().err


def test_the_role(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rbac", "--service-account", "monitoring:ktui"]) == 0
    role, binding = yaml.safe_load_all(capsys.readouterr().out)
    assert role["kind"] == "ClusterRole"
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "namespace": "monitoring", "name": "ktui"}]
    assert main(["rbac", "--json"]) == 0
    assert [item["kind"] for item in json.loads(capsys.readouterr().out)["items"]] == ["ClusterRole"]
    assert main(["rbac", "--service-account", "ktui"]) == 2


def test_two_bindings_do_not_replace_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    names = []
    subjects = [
        ["--service-account", "monitoring:a"], ["--service-account", "monitoring:b"], ["--user", "a"],
        ["--user", "A"], ["--group", "a"], ["--user", "jane@example.com"], ["--user", "jane/example.com"],
    ]  # fmt: skip
    for subject in subjects:
        assert main(["rbac", *subject]) == 0
        role, binding = yaml.safe_load_all(capsys.readouterr().out)
        assert binding["roleRef"]["name"] == role["metadata"]["name"] == "ktui-observer"
        names.append(binding["metadata"]["name"])
    assert names[0] == "ktui-observer:serviceaccount:monitoring:a"
    assert len(set(names)) == len(subjects)
    assert not any("/" in name or "%" in name for name in names)


def test_it_starts_without_the_dashboard() -> None:
    code = "import sys; import ktui.cli.observe, ktui.live.scraper; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
