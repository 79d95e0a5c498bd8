"""The cause line of etcd's log."""

from __future__ import annotations

import pytest

from ktui.etcd.server_log import EtcdLog


def log_of(*lines: str) -> EtcdLog:
    log = EtcdLog()
    for line in lines:
        log.add(line.encode())
    return log


INFO = '{"level":"info","msg":"starting"}'
# As Go's runtime prints it, and as etcdutl logs.
CRASHED = (
    "unexpected fault address 0x7f0",
    "fatal error: fault",
    "[signal SIGBUS: bus error code=0x2 addr=0x7f0 pc=0x8b]",
    "goroutine 1 [running]:",
    "runtime.throw(0xd5, 0x5)",
    "\t/home/user/go/src/runtime/panic.go:1117 +0x72 fp=0xc0 sp=0xc0 pc=0x43",
    "go.etcd.io/bbolt.(*Tx).init(0xc0, 0xc0)",
    "\t/home/user/bbolt@v1.3.6/db.go:1054 +0x1cd",
)
CONSOLE = (
    "2026-11-22T11:00:31Z\tinfo\tsnapshot/v3_snapshot.go:251\trestoring snapshot\t"
    '{"path": "/s.db", "stack": "x\\n\\t/tmp/etcd/v3_snapshot.go:257"}'
)


@pytest.mark.parametrize(
    ("lines", "cause"),
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
        (CRASHED, "fatal error: fault"),
        (CRASHED[1:], "fatal error: fault"),
        ((INFO, *CRASHED[2:]), "starting"),
        ((*CRASHED[2:], INFO), "starting"),
        ((CONSOLE,), "restoring snapshot"),
        ((f'{CONSOLE[:-1]}, "error": "no hash"}}'.replace("info", "fatal"),), "restoring snapshot: no hash"),
        (("{not json",), "{not json"),
        (("exec format error",), "exec format error"),
    ],
)
def test_cause(lines: tuple[str, ...], cause: str) -> None:
    assert log_of(*lines).cause == cause


def test_what_is_recognised() -> None:
    assert log_of('{"level":"info","msg":"ready to serve client requests"}').ready
    assert log_of('{"level":"fatal","msg":"x","error":"listen: bind: address already in use"}').port_in_use
    assert log_of('{"level":"panic","msg":"commit","error":"write: no space left on device"}').no_space
    assert log_of("flag provided but not defined: -snapshot-count").unknown_flag == "snapshot-count"


def test_what_crashed() -> None:
    assert log_of(*CRASHED).crash == "unexpected fault address 0x7f0"
    assert log_of("panic: freepages: no", *CRASHED).crash == "freepages: no"
    assert log_of(INFO, CONSOLE).crash == ""
