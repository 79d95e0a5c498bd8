"""`ktui list` and `ktui bench` at a kube-apiserver that tells nothing of ktui's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.main import main
from ktui.client.connection import ServerConnection
from tests.etcd.certificates import Authority
from tests.etcd.cli.conftest import SIZE, Run
from tests.etcd.cli.frontdoor import TOKEN, FrontDoor

Say = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def door(server: ServerConnection, in_loop: Run) -> Iterator[FrontDoor]:
    found = FrontDoor(server)
    in_loop(found.open())
    yield found
    in_loop(found.close())


def kubeconfig(folder: Path, url: str, user: dict[str, Any], **cluster: Any) -> Path:
    path = folder / "config"
    config = {
        "current-context": "real",
        "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}],
        "contexts": [{"name": "real", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(json.dumps(config))
    return path


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], door: FrontDoor, tmp_path: Path) -> Say:
    """Run a command at the door: exit status, its document (None without one), what it complains of."""
    config = kubeconfig(tmp_path, door.url, {"token": TOKEN})

    def run(*words: str, file: Path = config) -> tuple[int, Any, str]:
        status = main([*words, "--json", "--kubeconfig", str(file)])
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else None, err

    return run


def test_cost_from_the_clients_side_and_the_counters(say: Say, behave: Callable[[str], None]) -> None:
    behave("1.30")
    status, found, _ = say("list", "/api/v1/pods")
    assert status == 0
    assert (found["route"], found["predicted"]["route"], found["items"]) == ("etcd", "etcd", SIZE.pods)
    assert found["objects"]["fetched"] == SIZE.pods
    assert found["memory"] is None and found["cpu_ms"] is None, "not known"
    assert found["flow_control"] == {"flow_schema": "exempt", "priority_level": "exempt"}
    assert any("may include other clients' requests" in remark for remark in found["remarks"])


def test_another_clients_request_in_the_counters_leaves_route_and_cost_unknown(
    say: Say, door: FrontDoor, behave: Callable[[str], None]
) -> None:
    behave("1.30")
    door.trouble.meanwhile = "/api/v1/pods"
    _, found, _ = say("list", "/api/v1/pods")
    assert (found["route"], found["objects"]["fetched"], found["items"]) == ("", None, SIZE.pods)
    assert any("route and objects are not known" in remark for remark in found["remarks"])


def test_without_metrics_only_the_clients_side_is_known(say: Say, door: FrontDoor) -> None:
    door.trouble.metrics = 403
    status, found, _ = say("list", "/api/v1/pods")
    assert status == 0
    assert found["items"] == SIZE.pods and found["bytes"]["received"] > 100_000
    assert found["objects"]["fetched"] is None and found["etcd"]["bytes"] is None
    assert found["predicted"]["agrees"] is None
    assert any("HTTP 403" in remark for remark in found["remarks"])


def test_a_token_that_has_expired(say: Say, door: FrontDoor) -> None:
    door.trouble.token = "another"
    status, found, err = say("list", "/api/v1/pods")
    assert (status, found) == (3, None)
    assert "does not accept the credentials of context 'real'" in err


def test_an_apiserver_that_vanishes_in_the_middle(say: Say, door: FrontDoor) -> None:
    door.trouble.vanish_after = 20_000
    status, found, err = say("list", "/api/v1/pods")
    assert (status, found) == (3, None)
    assert "broke off" in err and "Traceback" not in err


def test_too_many_requests(say: Say, door: FrontDoor) -> None:
    door.trouble.busy = 1
    status, found, _ = say("list", "/api/v1/nodes")
    assert (status, found["status"], found["message"]) == (1, 429, "too many")
    door.trouble.busy = 1
    status, found, _ = say("bench", "kubelet", "--no-without", "--node", "node-01", "--namespace", "default")
    assert status == 0
    assert {row["status"] for row in found["lists"]} == {200}, "asked again after Retry-After"


def test_nothing_is_fired_beside_what_was_asked(say: Say, door: FrontDoor) -> None:
    say("list", "/api/v1/nodes?limit=2")
    others = [path for path in door.seen if path.startswith("/api/v1")]
    assert others == ["/api/v1/nodes?limit=2"]


def test_credentials_from_a_program(say: Say, door: FrontDoor, tmp_path: Path) -> None:
    version = "client.authentication.k8s.io/v1"
    answer = json.dumps({"kind": "ExecCredential", "apiVersion": version, "status": {"token": TOKEN}})
    plugin = {"command": sys.executable, "args": ["-c", f"print({answer!r})"], "apiVersion": version}
    (tmp_path / "exec").mkdir()
    status, found, _ = say(
        "list", "/api/v1/nodes", file=kubeconfig(tmp_path / "exec", door.url, {"exec": plugin})
    )
    assert (status, found["items"]) == (0, SIZE.nodes)


def test_a_context_that_does_not_exist(say: Say) -> None:
    status, _, err = say("list", "/api/v1/nodes", "--context", "prdo")
    assert status in (2, 3)
    assert "'prdo'" in err and "real" in err


def test_tls(say: Say, server: ServerConnection, in_loop: Run, tmp_path: Path) -> None:
    """The server's name, its authority, and a client certificate that it asks for."""
    authority = Authority(tmp_path / "pki")
    door = FrontDoor(server, authority.issue("api", address="10.9.8.7"), client_ca=authority.file)
    in_loop(door.open())
    certificate, key = map(str, authority.issue("client"))
    trusted = {"certificate-authority": str(authority.file), "tls-server-name": "etcd.test"}
    user = {"token": TOKEN, "client-certificate": certificate, "client-key": key}

    def at(user: dict[str, Any], **cluster: Any) -> tuple[int, Any, str]:
        return say("list", "/api/v1/nodes", file=kubeconfig(tmp_path, door.url, user, **cluster))

    status, found, _ = at(user, **trusted)
    assert (status, found["items"]) == (0, SIZE.nodes)
    status, _, err = at(user)
    assert status == 3
    assert "the certificate of https://127.0.0.1" in err and "is not trusted" in err
    status, _, err = at(user, **{**trusted, "tls-server-name": "other.test"})
    assert status == 3
    assert "is not trusted" in err and "other.test" in err
    status, found, err = at(user, **{"insecure-skip-tls-verify": True})
    assert (status, found["items"]) == (0, SIZE.nodes)
    assert "not verified" in err
    status, _, err = at({"token": TOKEN}, **trusted)
    assert status == 3 and "Traceback" not in err
    in_loop(door.close())


def test_a_proxy_that_is_not_there(say: Say, door: FrontDoor, tmp_path: Path) -> None:
    def through(proxy: str) -> str:
        file = kubeconfig(tmp_path, door.url, {"token": TOKEN}, **{"proxy-url": proxy})
        status, _, err = say("list", "/api/v1/nodes", file=file)
        assert status == 3
        return err

    assert "no server answers" in through("http://127.0.0.1:1")
    assert "of a kind that ktui does not know: socks5" in through("socks5://127.0.0.1:1")
