"""Credentials from a program: run as client-go runs it, every failure one clear sentence."""

import json
import sys
from pathlib import Path

import pytest

from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import credential_program, read_kubeconfig
from tests.unit.client.test_kubeconfig_reader import written

V1 = "client.authentication.k8s.io/v1"
GIVES_TOKEN = f"""
import json, os, sys
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["kind"] == "ExecCredential" and info["apiVersion"] == "{V1}", info
said = [*sys.argv[1:], os.environ["WHO"], str(info["spec"].get("cluster", {{}}).get("server")),
        str(info["spec"]["interactive"])]
print(json.dumps({{"kind": "ExecCredential", "apiVersion": "{V1}", "status": {{"token": "|".join(said)}}}}))
"""


def user(folder: Path, program: str, api: str = V1, **more: object) -> Path:
    """A kubeconfig whose user runs `program`, a script beside it."""
    script = folder / "login.py"
    script.write_text(f"#!{sys.executable}\n{program}")
    script.chmod(0o700)
    plugin = {"command": "./login.py", "apiVersion": api, "args": ["get"], **more}
    plugin["env"] = [{"name": "WHO", "value": "ann"}]
    return written(folder, f"exec: {json.dumps(plugin)}")


def test_a_token_from_a_program_beside_the_kubeconfig(tmp_path: Path) -> None:
    found = read_kubeconfig([user(tmp_path, GIVES_TOKEN)])
    assert found.headers() == {"Authorization": "Bearer get|ann|None|False"}
    assert "ann" not in repr(found)


def test_it_gets_the_cluster_and_the_terminal_where_it_asks_for_them(tmp_path: Path) -> None:
    path = user(tmp_path, GIVES_TOKEN, provideClusterInfo=True)
    assert read_kubeconfig([path], terminal=True).token == "get|ann|https://10.0.0.1:6443|True"


def test_it_is_announced_before_it_runs(tmp_path: Path) -> None:
    """Also without running it; a secret among its arguments is not shown."""
    args = ["get", "--client-secret", "s3cret", "--password=s3cret", "--region", "x" * 300]
    path = user(tmp_path, "raise SystemExit(3)", args=args)
    said: list[str] = []
    with pytest.raises(ClientError, match="failed with status 3"):
        read_kubeconfig([path], announce=said.append)
    (text,) = said
    assert text == credential_program([path])
    script = tmp_path / "login.py"
    assert text.startswith(
        f"the kubeconfig gets the credentials of user 'me' by running '{script} get --client-secret … "
    )
    assert "s3cret" not in text and len(text) < 300
    assert credential_program([tmp_path / "missing"]) == ""


def test_a_client_certificate(tmp_path: Path) -> None:
    status = {"clientCertificateData": "-----CERT", "clientKeyData": "-----KEY"}
    answer = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": status})
    found = read_kubeconfig([user(tmp_path, f"print({answer!r})")])
    assert found.certificate is not None and found.certificate.pem == b"-----CERT"
    assert found.key is not None and found.key.pem == b"-----KEY"
    assert "CERT" not in repr(found)


@pytest.mark.parametrize(
    ("program", "more", "says"),
    [
        ("import sys; sys.exit('not logged in')", {}, "failed with status 1: not logged in"),
        ("print('hello')", {}, "printed no ExecCredential"),
        ("print('[' * 100_000)", {}, "printed no ExecCredential"),
        ("while True: print('y' * 9999)", {}, "printed more than 1 MiB"),
        (
            "import sys; sys.stderr.write('x' * 9_999_999 + '\\nlast words'); sys.exit(3)",
            {},
            "status 3: last words",
        ),
        ("print('hello')", {"args": ["a\0b"]}, "cannot be run: embedded null byte"),
        ('print(\'{"kind":"Pod","apiVersion":"v1"}\')', {}, "printed v1 Pod instead of"),
        (f'print(\'{{"kind":"ExecCredential","apiVersion":"{V1}"}}\')', {}, "neither a token nor"),
        ("", {"interactiveMode": "Always"}, "has to ask at a terminal"),
        ("", {"command": "no-such-login", "installHint": "get it at x.org"}, "is not found: get it at x.org"),
        ("", {"command": "./c"}, "cannot be run: Permission denied"),
        ("", {"api": "v9"}, "an API that is not known: 'v9'"),
    ],
)
def test_what_goes_wrong_is_said(tmp_path: Path, program: str, more: dict[str, str], says: str) -> None:
    with pytest.raises(ClientError, match=f"user 'me' gets its credentials from the program.*{says}"):
        read_kubeconfig([user(tmp_path, program, **more)])
