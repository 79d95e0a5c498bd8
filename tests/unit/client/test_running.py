"""State files of running servers: private, found by age, and gone with their process."""

import os
from pathlib import Path

import msgspec
import pytest

from ktui.client.connection import ClientError, ServerConnection, connection_from_url
from ktui.client.running import (
    announce,
    find_by_url,
    find_running,
    server_directory,
    withdraw,
    write_kubeconfig,
)
from ktui.private_file import write_private

PARENT = os.getppid()  # a process that is alive and not ours to end


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_the_newest_server_is_found_first() -> None:
    announce(ServerConnection("https://127.0.0.1:1"), pid=os.getpid(), name="old", started=1.0)
    announce(ServerConnection("https://127.0.0.1:2", "s3cret"), pid=PARENT, name="new", started=2.0)
    assert [server.name for server in find_running()] == ["new", "old"]
    assert find_by_url("https://127.0.0.1:2/") is not None


def test_what_it_writes_is_private(state_home: Path) -> None:
    server = announce(
        ServerConnection("https://127.0.0.1:1", "s3cret"), pid=os.getpid(), name="", started=1.0
    )
    write_kubeconfig(server.connection, server.kubeconfig)
    for path in (server.directory / "server.json", server.kubeconfig):
        assert path.stat().st_mode & 0o777 == 0o600
    assert server.directory.stat().st_mode & 0o777 == 0o700


def test_a_dead_servers_files_are_removed() -> None:
    dead = 2**22 + 1  # above any pid that Linux gives
    announce(ServerConnection("https://127.0.0.1:1"), pid=dead, name="", started=1.0)
    directory = server_directory(dead)
    assert find_running() == []
    assert not directory.exists()


def test_a_garbled_state_file_is_no_server() -> None:
    (server_directory(os.getpid()) / "server.json").write_bytes(b"{")
    assert find_running() == []


def test_a_server_that_lives_keeps_its_directory_whatever_stands_in_it() -> None:
    """Who looks for servers while one is being announced must not take its certificate away."""
    mine = server_directory(os.getpid())
    (mine / "server.json").write_bytes(b"")
    find_running()
    announce(ServerConnection("https://127.0.0.1:1"), pid=os.getpid(), name="", started=1.0)
    assert [server.directory for server in find_running()] == [mine]
    assert [path.name for path in mine.iterdir()] == ["server.json"], "nothing else is left"


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_private(path, b"before")
    with path.open("rb") as reader:
        write_private(path, b"after")
        assert reader.read() == b"before"
    assert path.read_bytes() == b"after" and path.stat().st_mode & 0o777 == 0o600


def test_withdraw_removes_everything() -> None:
    server = announce(ServerConnection("https://127.0.0.1:1"), pid=os.getpid(), name="", started=1.0)
    withdraw(os.getpid())
    assert not server.directory.exists()


def test_the_kubeconfig_names_server_and_token(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("PEM")
    write_kubeconfig(ServerConnection("https://127.0.0.1:9", "s3cret", ca), tmp_path / "kubeconfig")
    document = msgspec.json.decode((tmp_path / "kubeconfig").read_bytes())
    assert document["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:9",
        "certificate-authority-data": "UEVN",
    }
    assert document["users"][0]["user"] == {"token": "s3cret"}


@pytest.mark.parametrize(
    "url", ["127.0.0.1:6443", "ftp://x", "https://", "", "https://[x]", "http://a:x", "http://a:99999"]
)
def test_an_address_that_is_none_says_how_to_write_one(url: str) -> None:
    with pytest.raises(ClientError, match="is not a server address: write it like https://"):
        connection_from_url(url)
