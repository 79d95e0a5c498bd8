"""`ktui info`: where everything is, and each setting with its source."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ktui import __version__
from ktui.cli.main import main
from ktui.config.settings import SETTINGS

CONFIG = """
context = "prod"
[server]
kube-version = "1.30"
token = "tok-1234"
[keys]
go.lab = "f5"
[audit]
top = 7
[contexts.prod]
etcd = ["https://a:2379"]
user = "root:s3cret"
[contexts.kind]
kube-context = "kind-kind"
"""


@pytest.fixture
def path(nobodys_settings: Path) -> Path:
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text(CONFIG)
    nobodys_settings.chmod(0o600)
    return nobodys_settings


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["info", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def setting(document: Any, name: str) -> tuple[str, str, str]:
    (row,) = [row for row in document["settings"] if row["setting"] == name]
    return row["value"], row["source"], row["where"]


def test_each_setting_with_its_source(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KTUI_PODS", "5")
    document = told(capsys, "--nodes", "9")
    assert {row["setting"] for row in document["settings"]} >= {each.id for each in SETTINGS}
    assert setting(document, "server.kube-version") == ("1.30", "config", f"{path}:4")
    assert setting(document, "demo.pods") == ("5", "env", "KTUI_PODS")
    assert setting(document, "demo.nodes") == ("9", "flag", "--nodes")
    assert setting(document, "demo.seed") == ("1", "default", "")
    assert setting(document, "audit.top") == ("7", "config", f"{path}:9")
    assert setting(document, "keys.go.lab") == ("f5", "config", f"{path}:7")
    assert setting(document, "etcd") == ("https://a:2379", "context", f"{path}:11")
    assert document["context"] == "prod"
    assert [(each["name"], each["cluster"]) for each in document["contexts"]] == [
        ("prod", "https://a:2379"),
        ("kind", "kubeconfig kind-kind"),
    ]


def test_secrets_are_masked(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ETCDCTL_PASSWORD", "hunter2")
    monkeypatch.setenv("ETCDCTL_USER", "ann:hunter3")
    document = told(capsys)
    assert setting(document, "user")[0] == "root:***"
    assert setting(document, "server.token")[0] == "***"
    assert setting(document, "ETCDCTL_PASSWORD")[0] == "***"
    assert setting(document, "ETCDCTL_USER")[0] == "ann:***"
    main(["info"])
    text = json.dumps(document) + capsys.readouterr().out
    assert not any(secret in text for secret in ("s3cret", "tok-1234", "hunter2", "hunter3"))


def test_places_versions_and_terminal(
    nobodys_settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    document = told(capsys)
    config = next(place for place in document["places"] if place["name"] == "config")
    assert config == {"name": "config", "path": str(nobodys_settings), "exists": False}
    assert document["versions"]["ktui"].startswith(__version__)
    assert document["versions"]["etcd"]
    assert document["terminal"]["TERM"] == "xterm-256color"
    assert document["terminal"]["colours"] == "none (NO_COLOR)"


def test_a_variable_that_means_nothing_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KTUI_TEHME", "x")
    assert told(capsys)["warnings"] == ["KTUI_TEHME means nothing to ktui; did you mean 'KTUI_THEME'?"]


def test_what_is_wrong_with_keys_and_columns_is_told_with_its_place(
    nobodys_settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text(
        "[keys]\nqiut = 'x'\nsort = 'f2'\nfilter = 'f2'\n[columns]\netcd.keys = ['kye']"
    )
    columns, unknown, clash = told(capsys)["warnings"]
    assert columns.endswith("config.toml:6: [columns] etcd.keys has no column 'kye'; did you mean 'key'?")
    assert unknown.endswith("config.toml:2: [keys] no key is called 'qiut'; did you mean 'quit'?")
    assert "key 'f2' for 'filter' is bound to 'sort' (everywhere) as well" in clash


def test_textual_is_loaded_only_to_check_keys(path: Path) -> None:
    path.write_text("[columns]\netcd.keys = ['key']")
    asked = "import sys; from ktui.cli.main import main; main(['info']); print('textual' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said.endswith("False\n")


def test_for_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    said = capsys.readouterr().out
    assert f"{path}:4" in said
    assert "  *  prod  https://a:2379" in said
