"""Snapshot files, whole and broken."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

from ktui.etcd import snapshot as module
from ktui.etcd.binary import packaged_binary
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import EmbeddedEtcdError, SnapshotError
from ktui.telemetry.bus import Bus
from tools.fidelity.recordings import ORACLE

pytestmark = pytest.mark.anyio


KEY, VALUE = "/registry/a", b"x" * 100_000


@pytest.fixture(scope="module")
async def saved(anyio_backend: object, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A snapshot of an etcd that holds KEY."""
    file = tmp_path_factory.mktemp("saved") / "snapshot.db"
    binary = packaged_binary()
    etcdctl = binary and binary.sibling("etcdctl")
    assert etcdctl is not None
    etcd = await EmbeddedEtcd.start()
    try:
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
        await client.create(KEY.encode(), VALUE)
        await client.close()
        subprocess.run(
            [etcdctl, f"--endpoints={etcd.endpoint}", "--dial-timeout=60s", "snapshot", "save", file],
            check=True,
            capture_output=True,
            env={**os.environ, "ETCDCTL_API": "3"},
        )
    finally:
        await etcd.stop()
    return file.read_bytes()


@pytest.fixture
def snapshot(saved: bytes, tmp_path: Path) -> Path:
    """A file of the test's own."""
    file = tmp_path / "snapshot.db"
    file.write_bytes(saved)
    return file


async def value_of(etcd: EmbeddedEtcd, bus: Bus, key: str) -> bytes:
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)
    found = await client.range(key.encode())
    await client.close()
    return found.kvs[0].value


@pytest.mark.parametrize("packed", [False, True])
async def test_a_snapshot_is_restored(snapshot: Path, bus: Bus, packed: bool) -> None:
    if packed:
        file = snapshot.with_suffix(".db.gz")
        file.write_bytes(gzip.compress(snapshot.read_bytes()))
        snapshot = file
    before = snapshot.read_bytes()
    etcd = await EmbeddedEtcd.start(snapshot=snapshot)
    try:
        assert await value_of(etcd, bus, KEY) == VALUE
        assert etcd.warnings == [] and snapshot.read_bytes() == before
    finally:
        await etcd.stop()


async def test_a_member_database_is_taken_with_a_warning(snapshot: Path, bus: Bus) -> None:
    database = snapshot.with_name("db")
    database.write_bytes(snapshot.read_bytes()[:-32])
    etcd = await EmbeddedEtcd.start(snapshot=database)
    try:
        assert await value_of(etcd, bus, KEY) == VALUE
        assert "no hash" in etcd.warnings[0]
    finally:
        await etcd.stop()


async def test_a_newer_etcds_snapshot_is_read_with_a_warning(snapshot: Path, bus: Bus) -> None:
    """The keys are stored alike; what the newer version notes of itself is all that differs."""
    database = snapshot.read_bytes()[:-32]
    newer = re.sub(rb"(clusterVersion)3\.5\.", rb"\g<1>3.6.", database)
    assert newer != database
    file = snapshot.with_name("newer.db")
    file.write_bytes(newer + hashlib.sha256(newer).digest())
    etcd = await EmbeddedEtcd.start(snapshot=file)
    try:
        assert await value_of(etcd, bus, KEY) == VALUE
        (warning,) = etcd.warnings
        assert "is from etcd 3.6 and is read with etcd 3.5" in warning and "--etcd-binary" in warning
    finally:
        await etcd.stop()


async def test_what_is_no_snapshot_says_so(snapshot: Path, tmp_path: Path) -> None:
    whole = snapshot.read_bytes()
    packed = gzip.compress(whole)
    flipped = bytearray(whole)
    flipped[len(flipped) // 2] ^= 0xFF
    cases = {
        "missing": (None, "no such file"),
        "text": (b"hello\n" * 10_000, "not an etcd snapshot"),
        "empty": (b"", "not an etcd snapshot"),
        "half": (whole[: len(whole) // 2], "truncated"),
        "half.gz": (packed[: len(packed) // 2], "truncated"),
        "flipped": (bytes(flipped), "sha256"),
    }
    for name, (content, says) in cases.items():
        file = tmp_path / name
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(SnapshotError, match=says):
            await EmbeddedEtcd.start(snapshot=file)


async def test_what_unpacks_to_far_more_is_left(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of zeros behind a snapshot no more than the limit reaches the disk; zeros alone are no snapshot."""
    monkeypatch.setattr(module, "MOST_UNPACKED", 1 << 20)
    bombs = {"zeros.gz": bytes(8 << 20), "behind.gz": snapshot.read_bytes() + bytes(8 << 20)}
    for name, says in {"zeros.gz": "not an etcd snapshot", "behind.gz": "more than 200 times"}.items():
        file = tmp_path / name
        with gzip.open(file, "wb") as packed:  # of zeros, a thousandth is left
            packed.write(bombs[name])
        with pytest.raises(SnapshotError, match=says):
            await EmbeddedEtcd.start(snapshot=file)


async def test_a_crash_over_its_content_names_the_snapshot(snapshot: Path) -> None:
    """Every leaf of the keys is overwritten: whichever function reads them, the error is about the file."""
    content = bytearray(snapshot.read_bytes()[:-32])
    for place in range(2 * 4096, len(content), 4096):
        (flags,) = struct.unpack_from("<H", content, place + 8)
        if flags == 2 and b"clusterVersion" not in content[place : place + 4096]:
            content[place + 16 : place + 4096] = b"\xff" * (4096 - 16)
    file = snapshot.with_name("overwritten")
    file.write_bytes(content)
    with pytest.raises(SnapshotError) as raised:
        await EmbeddedEtcd.start(snapshot=file)
    said = str(raised.value)
    assert said.startswith(f"snapshot {file}") and "damaged" in said
    assert ".go:" not in said and "\n" not in said and len(said) < 1000


async def test_a_snapshot_wants_a_throwaway_directory(snapshot: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbeddedEtcdError, match="throwaway"):
        await EmbeddedEtcd.start(snapshot=snapshot, data_dir=tmp_path / "data")


async def test_the_snapshot_of_a_real_cluster(bus: Bus) -> None:
    etcd = await EmbeddedEtcd.start(snapshot=ORACLE / "cluster.snapshot.db.gz")
    try:
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)
        found = await client.range(b"/registry/", b"/registry0", count_only=True)
        pods = await client.range(b"/registry/pods/", b"/registry/pods0", count_only=True)
        await client.close()
        assert found.count > 1000 and pods.count == 379
    finally:
        await etcd.stop()
