"""`ktui ci`: a real command at a real server of its own, judged by what that server recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import ktui
from ktui.cli.main import main
from ktui.core.budgets.budget_file import read_budgets

PAGE = Path(ktui.__file__).parents[1] / "docs" / "budgets.md"
# What an informer of client-go sends: a LIST, then a WATCH from its resourceVersion.
CONTROLLER = """
import json, os, ssl, sys, urllib.request
config = json.load(open(os.environ["KUBECONFIG"]))
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
import base64
context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
def get(path):
    headers = {"User-Agent": "controller/v1 (linux)", "Authorization": "Bearer " + user["token"]}
    request = urllib.request.Request(cluster["server"] + path, headers=headers)
    return urllib.request.urlopen(request, context=context)
selector = os.environ["SELECTOR"]
rv = json.load(get("/api/v1/pods?" + selector))["metadata"]["resourceVersion"]
watch = get(f"/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion={rv}&{selector}")
watch.read()
assert "KUBERNETES_SERVICE_HOST" not in os.environ
"""
SELECTED, ALL = "labelSelector=app%3Dweb", ""
WORDS = ("ci", "--pods", "20", "--nodes", "2")


def environment(folder: Path, selector: str = SELECTED) -> dict[str, str]:
    """No user's settings and servers; `ktui` is on PATH; the command could believe to be in a pod."""
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    (binaries / "ktui").write_text(f'#!/bin/sh\nexec {sys.executable} -m ktui "$@"\n')
    (binaries / "ktui").chmod(0o700)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("KTUI_")},
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "PYTHONPATH": str(PAGE.parents[1]),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TMPDIR": str(folder),
        "KUBECONFIG": "/nowhere",
        "KUBERNETES_SERVICE_HOST": "192.0.2.1",
        "SELECTOR": selector,
    }


def script(folder: Path, text: str = CONTROLLER) -> str:
    path = folder / "e2e.sh"
    (folder / "controller.py").write_text(text)
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {folder / 'controller.py'}\n")
    path.chmod(0o700)
    return str(path)


def run(folder: Path, *words: str, selector: str = SELECTED) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ktui", *words],
        capture_output=True, text=True, check=False, cwd=folder, env=environment(folder, selector),
    )  # fmt: skip


def left_behind(folder: Path) -> list[str]:
    servers = folder / "state" / "ktui" / "servers"
    return [*map(str, folder.glob("ktui-ci-*")), *map(str, servers.glob("*") if servers.exists() else ())]


def test_the_workflow_of_the_page_turns_red_when_a_list_loses_its_selector(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    steps = page.partition("<!-- workflow -->")[2].partition("run: |\n")[2]
    step = steps.partition("\n      - ")[0].strip()
    assert step.startswith("ktui ci --pods 600 --budget budgets.toml ")
    step = step.replace("--pods 600", "--pods 20 --nodes 2")
    script(tmp_path)
    written = run(tmp_path, *WORDS, "--write-budget", "budgets.toml", "--", "./e2e.sh")
    assert (written.returncode, written.stderr.count("wrote budgets.toml")) == (0, 1), written.stderr
    assert {(b.client, b.verb, b.route) for b in read_budgets(tmp_path / "budgets.toml")} == {
        ("controller", "list", ""), ("controller", "list", "etcd"), ("controller", "watch", ""),
    }  # fmt: skip

    def workflow(selector: str) -> tuple[int, str, ElementTree.Element]:
        summary = tmp_path / "summary.md"
        variables = {**environment(tmp_path, selector), "GITHUB_STEP_SUMMARY": str(summary)}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", step],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=variables,
        )  # fmt: skip
        suite = ElementTree.parse(tmp_path / "ktui.xml").find("testsuite")
        assert suite is not None
        return done.returncode, done.stdout + summary.read_text(encoding="utf-8"), suite

    status, text, suite = workflow(SELECTED)
    assert (status, suite.get("failures")) == (0, "0"), text
    assert text.startswith("no budget exceeded: 2 requests of ./e2e.sh\n")
    status, text, suite = workflow(ALL)
    assert (status, suite.get("failures")) == (1, "1"), text
    assert text.startswith("1 of 3 budgets exceeded")
    assert "LIST /api/v1/pods from the cache: 20 objects, 20 read" in text
    assert "❌ exceeded" in text
    assert left_behind(tmp_path) == []


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_failing_command_is_told_apart_and_its_budgets_are_judged_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text('[[budget]]\nclient = "controller"\nverb = "list"\nmax = 0\n')
    script(tmp_path, CONTROLLER + "\nprint('my own output')\nsys.exit(7)\n")
    done = run(tmp_path, "ci", "--budget", "b.toml", "--json", "--junit", "j.xml", "--", "./e2e.sh")
    assert done.returncode == 4, done.stderr
    assert "the command ended with status 7" in done.stderr
    assert "my own output" in done.stderr
    assert (document(done)["command_status"], document(done)["exceeded"]) == (7, 1)
    suite = ElementTree.parse(tmp_path / "j.xml").find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "2"
    again = run(tmp_path, "ci", "--write-budget", "new.toml", "--", "./e2e.sh")
    assert again.returncode == 4
    assert not (tmp_path / "new.toml").exists()


def test_a_command_that_sends_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text("[[budget]]\nmax = 5\n")
    done = run(tmp_path, "ci", "--budget", "b.toml", "--junit", "j.xml", "--", "true")
    assert done.returncode == 5
    assert "sent no request for a resource" in done.stderr
    suite = ElementTree.parse(tmp_path / "j.xml").find("testsuite")
    assert suite is not None
    assert suite.get("errors") == "1"


@pytest.mark.parametrize(("number", "graceful"), [(signal.SIGTERM, False), (signal.SIGINT, True)])
def test_signals_reach_the_command_and_its_children(
    tmp_path: Path, number: signal.Signals, graceful: bool
) -> None:
    """The command is a shell whose child waits; the child reports the signal, or dies of it."""
    child = (
        "import signal, sys\n"
        f"{'signal.signal(signal.SIGINT, lambda *_: sys.exit(0))' if graceful else ''}\n"
        "print('waiting', flush=True)\nsignal.pause()\n"
    )
    (tmp_path / "wait.py").write_text(CONTROLLER + child)
    shell = f"trap '' INT; {sys.executable} wait.py; exit $?" if graceful else f"{sys.executable} wait.py"
    process = subprocess.Popen(
        [sys.executable, "-m", "ktui", "ci", "--", "sh", "-c", shell],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment(tmp_path),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(number)
    out, err = process.communicate()
    assert "2 requests of sh -c" in out, err
    assert process.returncode == (0 if graceful else 128 + number), err
    assert left_behind(tmp_path) == []


def test_a_server_that_ends_meanwhile_is_no_verdict_and_ends_the_command(tmp_path: Path) -> None:
    kill = "kill -9 $(basename $XDG_STATE_HOME/ktui/servers/*); exec sleep 1000"
    done = run(tmp_path, "ci", "--", "sh", "-c", kill)
    assert (done.returncode, done.stdout) == (3, "")
    assert "the server ended while the command ran: the server was killed by SIGKILL" in done.stderr


def test_what_is_wrong_is_said_before_a_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for words, says in (
        ((), "name a command"),
        (("--", "no-such-command"), "there is no such command"),
        (("--kube-version", "1.99", "--", "true"), "1.99"),
        (("--budget", "gone.toml", "--", "true"), "there is no budget file gone.toml"),
        (("--markdown", "/nowhere/x.md", "--", "true"), "there is no directory /nowhere"),
    ):
        try:
            status = main(["ci", *words])
        except SystemExit as ended:  # argparse's way
            status = ended.code
        told = capsys.readouterr()
        assert (status, told.out) == (2, "")
        assert says in told.err
    assert left_behind(tmp_path) == []
