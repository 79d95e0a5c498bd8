"""The telling line of etcd's log."""

from __future__ import annotations

import pytest

from ktui.etcd.etcdlog import EtcdLog


def log_of(*lines: str) -> EtcdLog:
    log = EtcdLog()
    for line in lines:
        log.add(line.encode())
    return log


INFO = '{"level":"info","msg":"starting"}'


@pytest.mark.parametrize(
    ("lines", "telling"),
    [
        ((), ""),
        ((INFO,), "starting"),
        (
            (INFO, '{"level":"fatal","msg":"discovery failed","error":"listen tcp: no"}', INFO),
            "discovery failed: listen tcp: no",
        ),
        (
            ('{"level":"error","msg":"closing"}', '{"level":"fatal","msg":"bad","error":"cause"}'),
            "bad: cause",
        ),
        (("panic: runtime error: index", "goroutine 1 [running]:"), "panic: runtime error: index"),
        (("{not json",), "{not json"),
        (("exec format error",), "exec format error"),
    ],
)
def test_telling(lines: tuple[str, ...], telling: str) -> None:
    assert log_of(*lines).telling == telling


def test_what_is_recognised() -> None:
    assert log_of('{"level":"info","msg":"ready to serve client requests"}').ready
    assert log_of('{"level":"fatal","msg":"x","error":"listen: bind: address already in use"}').port_in_use
    assert log_of('{"level":"panic","msg":"commit","error":"write: no space left on device"}').no_space
    assert log_of("flag provided but not defined: -snapshot-count").unknown_flag == "snapshot-count"
