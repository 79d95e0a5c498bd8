"""What commands print of others: names, values, errors, file names; read back as the bytes of a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.hostile import (
    HOSTILE,
    SEEN,
    controls_in,
    hostile_audit_log,
    hostile_etcd_log,
    hostile_kubeconfig,
    hostile_recording,
    hostile_server,
    program,
    strangers_in,
)

pytestmark = pytest.mark.terminal

FILE = HOSTILE.replace("\0", "").replace("/", "_")  # what may be the name of a file
PLAN = f"""about = {json.dumps(FILE)}
client = "c"
[[list]]
path = "/api/v1/pods?labelSelector=a%3Db"
note = {json.dumps(FILE)}
"""
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": HOSTILE}, "data": {HOSTILE: HOSTILE}}
CONFIG = f'[keys]\n{json.dumps(HOSTILE)} = "f2"\n"go.requests" = {json.dumps(HOSTILE)}\n'
# Arguments; {name}: a file of `files`, {url}: the server, {F}: a hostile name.
COMMANDS = {
    "list": "list /api/v1/pods --attach {url}",
    "list, refused": "list /api/v1/refused --attach {url} --json",
    "list, --try": "list /api/v1/pods?fieldSelector=spec.nodeName=n --attach {url} --try",
    "list, another's version": "list /api/v1/pods --kubeconfig {kubeconfig}",
    "list, no such context": "list /api/v1/pods --kubeconfig {kubeconfig} --context {F}",
    "list, not a kubeconfig": "list /api/v1/pods --kubeconfig {recording}",
    "list, not an address": "list /api/v1/pods --attach http://[{F}]",
    "list, not a path": "list {F} --attach {url}",
    "bench": "bench {plan} --attach {url} --repeat 1",
    "bench, not a plan": "bench {value}",
    "explain": "explain /api/v1/namespaces/{F}/pods?labelSelector={F} --account {F}",
    "explain, not a gate": "explain /api/v1/pods --feature-gates {F}=true",
    "audit": "audit {audit} {etcdlog}",
    "audit, --markdown": "audit {audit} {etcdlog} --markdown",
    "audit, no such file": "audit {F}",
    "decode": "decode {value}",
    "decode, damaged": "decode {damaged}",
    "recording info": "recording info {recording}",
    "recording share": "recording share {recording} {new}",
    "recording, not one": "recording info {damaged}",
    "--replay, not one": "--replay {damaged}",
    "serve, not a snapshot": "serve --snapshot {damaged}",
    "serve, not an etcd": "serve --etcd http://{F}",
    "serve, not etcd's program": "serve --etcd-binary {script}",
    "info": "info --config {config}",
    "no such command": "{F}",
}
STATUS = {0, 1, 2, 3}
ONE_AFTER_THE_OTHER = """
import json, sys
from ktui.cli.main import main
for arguments in json.load(open(sys.argv[1])):
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    print(f"=== {status}", flush=True)
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the names in COMMANDS stand for; every file has a hostile name too."""
    directory = tmp_path_factory.mktemp("hostile")
    texts = {
        "plan": PLAN,
        "value": json.dumps(OBJECT),
        "damaged": f"k8s\0{HOSTILE}",
        "audit": hostile_audit_log(),
        "etcdlog": hostile_etcd_log(),
        "config": CONFIG,
        "script": f"#!/bin/sh\nprintf '%s' '{FILE}' >&2; exit 3\n",
    }
    with hostile_server() as server:
        server.follow_rules("1.36")
        texts["kubeconfig"] = hostile_kubeconfig(server.url)
        files = {name: directory / (FILE + name) for name in [*texts, "new", "recording"]}
        for name, text in texts.items():
            files[name].write_text(text, encoding="utf-8")
        files["script"].chmod(0o700)
        hostile_recording(files["recording"])
        yield {"url": server.url, "F": FILE, **{name: str(file) for name, file in files.items()}}


def test_no_command_lets_foreign_text_control_the_terminal(words: dict[str, str], tmp_path: Path) -> None:
    """One process runs them one after the other: most of the time of each would be to start Python."""
    lines = [[word.format(**words) for word in line.split()] for line in COMMANDS.values()]
    plan = tmp_path / "commands.json"
    plan.write_text(json.dumps(lines), encoding="utf-8")
    whole, _ = program([str(plan)], tmp_path, start=("-c", ONE_AFTER_THE_OTHER))
    outputs = re.split(rb"=== (\d+)\r\n", whole)
    assert len(outputs) == 2 * len(COMMANDS) + 1, whole
    for name, output, status in zip(COMMANDS, outputs[::2], outputs[1::2], strict=False):
        assert int(status) in STATUS and b"Traceback" not in output, (name, status, output)
        assert SEEN.encode() in output, (name, status, output)
        assert not controls_in(output) and not strangers_in(output), (name, output)


def test_programs_get_documents_as_they_are(words: dict[str, str], tmp_path: Path) -> None:
    """JSON spells controls as escapes: the same document. A body goes to files only, byte by byte."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    ktui = [sys.executable, "-m", "ktui"]
    decoded = subprocess.run(
        [*ktui, "decode", words["value"]], env=environment, capture_output=True, check=True
    )
    assert json.loads(decoded.stdout) == OBJECT
    save = ["list", "/api/v1/raw", "--attach", words["url"], "--save-body"]
    body = subprocess.run([*ktui, *save, "/dev/stderr"], env=environment, capture_output=True, check=True)
    assert HOSTILE.encode() in body.stderr
    output, status = program([*save, "/dev/stdout"], tmp_path)
    assert status == 2 and b"a terminal cannot show" in output and not strangers_in(output)
