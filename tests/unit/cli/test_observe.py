"""`ktui observe` and `ktui rbac` from the command line, over a server with recorded pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ktui.cli.main import main
from tests.unit.live.recorded import FIRST, LAST, Answer, Recorded, serving

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
        assert main(words) == 0
        assert main([*words, "--fail-on", "critical"]) == 1
    err = capsys.readouterr().err
    assert "`ktui rbac` prints the role that grants get on /metrics" in err


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


def test_it_starts_without_the_dashboard() -> None:
    code = "import sys; import ktui.cli.observe, ktui.live.scraper; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
