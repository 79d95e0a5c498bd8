"""A hostile request, what it may cost, and the list of them.

A module in `tools/hostile/cases` has cases of one theme. Each is a coroutine that gets a `Target`, sends its
requests, and raises `Broken` (`target.expect`) if an answer is wrong. What it returns is printed.

    @case("a Service with 10,000 NodePorts", within=5)
    async def many_node_ports(target: Target) -> str:
        answer = await target.send("POST", "/api/v1/namespaces/default/services?dryRun=All", {...})
        target.expect(answer.status == 422, answer)
        return f"{answer.status} after {answer.seconds:.1f} s"

While it runs, a canary asks for `/healthz` (each time on a new connection) and, as another user, for a
ConfigMap; the server measures how long its event loop was busy without a pause.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tools.hostile.target import Target

Run = Callable[[Target], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a case may take.

    Wall times are wide, because other programs may run beside; `loop_ms` is CPU time of the event loop's
    thread between two pauses, which they do not change.
    """

    within: float  # seconds, the case itself
    healthz_ms: float
    other_ms: float  # another user's GET
    loop_ms: float
    memory_mb: int  # growth of the server's resident memory


@dataclass(frozen=True, slots=True)
class Case:
    theme: str  # the module
    name: str
    sent: str  # in words
    bounds: Bounds
    options: tuple[str, ...]  # of `ktui serve`; cases with the same ones share a server
    fresh: bool  # has a server of its own
    run: Run


_CASES: list[Case] = []


def case(
    sent: str,
    *,
    within: float = 10.0,
    healthz_ms: float = 1000.0,
    other_ms: float = 1000.0,
    loop_ms: float = 50.0,
    memory_mb: int = 300,
    options: Sequence[str] = (),
    fresh: bool = False,
) -> Callable[[Run], Run]:
    """Add a case, named as its function."""

    def add(run: Run) -> Run:
        theme, name = run.__module__.rpartition(".")[2], run.__name__.replace("_", "-")
        bounds = Bounds(within, healthz_ms, other_ms, loop_ms, memory_mb)
        _CASES.append(Case(theme, name, sent, bounds, tuple(options), fresh, run))
        return run

    return add


def cases(names: Sequence[str] = ()) -> list[Case]:
    """Return the cases of these names and themes, or all; raise ValueError for an unknown one."""
    from tools.hostile import cases as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    known = {one.name for one in _CASES} | {one.theme for one in _CASES}
    if unknown := sorted(set(names) - known):
        raise ValueError(f"no such case or theme: {', '.join(unknown)}")
    return [one for one in _CASES if not names or one.name in names or one.theme in names]
