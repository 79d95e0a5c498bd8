"""Run etcd and stop it when ktui ends. A script that uses only the standard library.

usage: warden.py PARENT_PID LOCK_FD THROWAWAY_DIR|- -- ETCD [FLAG…]

ktui holds the other end of standard input, and may write orders to it, one byte each: P pauses etcd
(SIGSTOP), C continues it, K kills it, S starts it again. Once an order is carried out, its byte is written to
standard output.

When standard input closes, or when the parent ends in any way, etcd is stopped and the temporary directory is
removed. The directory stays if etcd ends on its own (ktui may try again). On Linux the kernel also kills etcd
if the warden is killed: the warden has only one thread, so the parent-death signal cannot come too early, as
it could if a thread of ktui started etcd.
"""

import contextlib
import os
import select
import shutil
import signal
import sys
import time

GRACE_SECONDS = 3.0
PAUSE, CONTINUE, KILL, START = b"P", b"C", b"K", b"S"
_PR_SET_PDEATHSIG = 1


def start(command: list[str]) -> int:
    """Start etcd, which dies with this process (Linux); return its process id."""
    warden = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with(warden)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error.strerror}\n")
        sys.stderr.flush()
    os._exit(127)


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent thread ends."""
    if sys.platform != "linux":
        return
    import ctypes  # start-up time

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(127)


def watch_parent(parent: int) -> list[int]:
    """Return descriptors that become readable when the parent has ended."""
    descriptors = [0]
    if hasattr(os, "pidfd_open"):
        # A child that ktui forked may hold the other end of standard input open, so the process itself is
        # watched.
        with contextlib.suppress(OSError):
            descriptors.append(os.pidfd_open(parent))
    if os.getppid() != parent:
        raise SystemExit(0)
    return descriptors


class Etcd:
    """The etcd process; `pid` is 0 between an order to kill it and one to start it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self.pid = start(command)

    def obey(self, order: bytes) -> None:
        """Execute an order, a byte of standard input; return once it is carried out."""
        if order == START and not self.pid:
            self.pid = start(self._command)
        elif self.pid and order == KILL:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        elif self.pid and order == CONTINUE:
            os.kill(self.pid, signal.SIGCONT)
        elif self.pid and order == PAUSE:
            os.kill(self.pid, signal.SIGSTOP)
            if sys.platform == "linux":  # its threads stop one after the other
                os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def ended(self) -> int | None:
        """Return the exit status if etcd has ended on its own, else None."""
        if not self.pid:
            return None
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None


def wait(etcd: Etcd, ends: list[int], wakeup: int) -> int | None:
    """Return etcd's exit status if it ends on its own, None if it has to be stopped."""
    while True:
        readable, _, _ = select.select([wakeup, *ends], [], [])
        if wakeup in readable:
            if signal.SIGTERM in os.read(wakeup, 64):
                return None
            if (status := etcd.ended()) is not None:
                return status
        if 0 in readable:
            if not (order := os.read(0, 1)):
                return None
            etcd.obey(order)
            with contextlib.suppress(BrokenPipeError):  # ktui has ended
                os.write(1, order)
        elif any(end in readable for end in ends):
            return None


def stop(etcd: int, gently: bool, wakeup: int) -> None:
    """Stop etcd; with `gently` it has time to close its files."""
    os.kill(etcd, signal.SIGTERM if gently else signal.SIGKILL)
    deadline = time.monotonic() + GRACE_SECONDS
    while gently and (left := deadline - time.monotonic()) > 0:
        if select.select([wakeup], [], [], left)[0]:
            os.read(wakeup, 64)
        if os.waitpid(etcd, os.WNOHANG)[0]:
            return
    if gently:
        os.kill(etcd, signal.SIGKILL)
    os.waitpid(etcd, 0)


def main(arguments: list[str]) -> int:
    parent, lock, throwaway = int(arguments[0]), int(arguments[1]), arguments[2]
    command = arguments[4:]
    if lock >= 0:
        os.set_inheritable(lock, False)
    wakeup, wakeup_write = os.pipe()
    os.set_blocking(wakeup_write, False)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ends = watch_parent(parent)
    etcd = Etcd(command)
    status = wait(etcd, ends, wakeup)
    if status is None:
        if etcd.pid:
            etcd.obey(CONTINUE)  # a paused process could not end
            stop(etcd.pid, throwaway == "-", wakeup)
        if throwaway != "-":
            shutil.rmtree(throwaway, ignore_errors=True)
        status = 0
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
