"""The k9s plugin of packaging/: its file is read, filled in as k9s does, and its command line runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.cli.test_mcp import Cluster
from tests.unit.live.recorded import Answer, serving

FILE = Path(__file__).parents[3] / "packaging" / "k9s-plugins.yaml"
REQUIRED, KNOWN = {"shortCut", "description", "scopes", "command"}, {"background", "confirm", "args"}
# As k9s names a variable in an argument: it replaces the text of those that it has.
_VARIABLE = re.compile(r"(\$(!?)([\w\-]+))|(\$\{(!?)([\w\-%/: ]+)\})")


class Namespaced(Cluster):
    """Pods of one namespace, custom resources of a group, and nodes."""

    def answer(self, replica: int, path: str, user: str) -> Answer:
        lists = {
            "/api/v1/namespaces/team-000/pods?limit=1": 7,
            "/apis/cilium.io/v2/ciliumnodes?limit=1": 41,
            "/api/v1/nodes?limit=1": 12,
        }
        if path in lists:
            item = json.dumps({"metadata": {"name": "x"}})
            body = {"metadata": {"remainingItemCount": lists[path] - 1}, "items": [json.loads(item)]}
            return 200, "application/json", json.dumps({"kind": "List", "apiVersion": "v1", **body}).encode()
        return super().answer(replica, path, user)


def plugin() -> dict[str, Any]:
    (found,) = yaml.safe_load(FILE.read_text())["plugins"].values()
    return dict(found)


def substituted(argument: str, values: Mapping[str, str]) -> str:
    """Replace variables as k9s does, longest name first; unknown ones stay."""
    matches = sorted(_VARIABLE.finditer(argument), key=lambda match: -len(match[0]))
    for match in matches:
        name = (match[3] or match[6]).upper()
        if name in values:
            argument = argument.replace(match[0], values[name])
    return argument


def programs(folder: Path) -> Path:
    """Return a folder with a `kubectl` that finds `kubectl ktui`, and a `less` that prints."""
    folder.mkdir()
    for name, text in (
        ("kubectl", f'[ "$1" = ktui ] && shift && exec {sys.executable} -m ktui "$@"'),
        ("less", "exec cat"),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder


def run(home: Path, values: Mapping[str, str]) -> str:
    found = plugin()
    words = [found["command"], *(substituted(argument, values) for argument in found["args"])]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KTUI_", "KUBECONFIG"))}
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=100,
        env=kept | {"HOME": str(home), "XDG_CONFIG_HOME": str(home),
                    "PATH": f"{programs(home / 'bin')}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert not done.stderr
    return done.stdout


def test_the_file_has_what_k9s_reads() -> None:
    found = plugin()
    assert found.keys() >= REQUIRED and found.keys() <= REQUIRED | KNOWN
    assert found["scopes"] == ["all"] and found["background"] is False


@pytest.mark.parametrize(
    ("resource", "namespace", "says"),
    [
        (("", "v1", "pods"), "team-000", "7 objects in /api/v1/namespaces/team-000/pods"),
        (("cilium.io", "v2", "ciliumnodes"), "-", "41 objects in /apis/cilium.io/v2/ciliumnodes"),
        (("", "v1", "nodes"), "", "12 objects in /api/v1/nodes"),
        (("", "v1", "secrets"), "-", "ktui: 403: secrets is forbidden"),
        (("", "", "contexts"), "", "This view is no resource of the API"),
        (("", "v1", "pods"), "$(touch hacked)`touch hacked`", "ktui: 404: not found"),
    ],
)
def test_it_says_what_listing_costs(
    resource: tuple[str, str, str], namespace: str, says: str, tmp_path: Path
) -> None:
    with serving(Namespaced()) as cluster:
        config = tmp_path / "a config"
        document = {
            "clusters": [{"name": "c", "cluster": {"server": cluster.url}}],
            "users": [{"name": "u", "user": {"token": "admin"}}],
            "contexts": [{"name": "my prod; touch hacked", "context": {"cluster": "c", "user": "u"}}],
        }
        config.write_text(json.dumps(document))
        names = ("RESOURCE_GROUP", "RESOURCE_VERSION", "RESOURCE_NAME")
        values = dict(zip(names, resource, strict=True))
        values |= {"NAMESPACE": namespace, "CONTEXT": "my prod; touch hacked", "KUBECONFIG": str(config)}
        out = run(tmp_path, values)
    assert says in out
    assert ("from the watch cache" in out) == says[0].isdigit()
    assert not Path("hacked").exists()
