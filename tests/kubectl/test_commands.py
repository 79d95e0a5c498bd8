"""A day of kubectl's commands against one server: what each must print, in this order."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.kubectl.test_kubectl import Kubectl

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.kubectl,
    pytest.mark.etcd,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH"),
]
FILES = Path(__file__).parent / "commands"
PATIENCE = 60  # seconds for a command


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kubectl(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubectl]:
    """kubectl with the kubeconfig that a server of its own writes; its namespace is `shop`."""
    home = tmp_path_factory.mktemp("commands")
    env = {**os.environ, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home), "HOME": str(home)}
    words = sys.executable, "-m", "ktui"
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(*words, "serve", env=env, stdout=pipe)
    assert server.stdout is not None
    try:
        await asyncio.wait_for(server.stdout.readline(), 60)
        asked = await asyncio.create_subprocess_exec(*words, "kubeconfig", env=env, stdout=pipe)
        out, _ = await asyncio.wait_for(asked.communicate(), 60)
        shutil.copy(out.decode().strip(), home / "config")
        kubectl = Kubectl(home)
        await kubectl("config", "set-context", "--current", "--namespace=shop")
        yield kubectl
    finally:
        server.terminate()
        await asyncio.wait_for(server.wait(), 60)


def signing_request() -> str:
    """The manifest of a CertificateSigningRequest with a real request."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "jane")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(name)
    request = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    text = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    return (FILES / "csr.yaml").read_text().replace("REQUEST", text)


def commands() -> list[tuple[str, str, bool, str]]:
    """(group, command, whether it succeeds, pattern of its output) of each command in commands.txt.

    `# words` begins a group, `$ words` a command, `! words` one that fails; the next line is the pattern.
    """
    found, group = [], ""
    lines = iter([line for line in (FILES / "commands.txt").read_text().splitlines() if line.strip()])
    for line in lines:
        if line.startswith("# "):
            group = line[2:]
        else:
            found.append((group, line[2:], line[0] == "$", next(lines).strip()))
    return found


@pytest.mark.timeout(400)  # some 220 processes, one after the other
async def test_commands_print_what_they_must(kubectl: Kubectl) -> None:
    differ = []
    for group, command, succeeds, pattern in commands():
        words = [word.replace("·", " ").replace("@", f"{FILES}/") for word in command.split(" ")]
        stdin = signing_request() if command.endswith("-f -") else ""
        process = await kubectl.start(*words, reads=bool(stdin))
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin.encode() or None), PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()
            differ.append(f"{group}: kubectl {command}: did not end in {PATIENCE} s")
            continue
        printed = out.decode() + err.decode()
        if (process.returncode == 0) is not succeeds or not re.search(pattern, printed):
            told = f"exit {process.returncode}, not {pattern!r}"
            differ.append(f"{group}: kubectl {command}: {told}:\n{printed[:600]}")
    assert not differ, "\n".join(differ)
