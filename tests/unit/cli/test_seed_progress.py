"""The lines that `ktui serve --demo` prints while its cluster is being made."""

import io

from ktui.cli.seed import SeedReporter, ServerSeedReporter
from ktui.workloads.seeding import SeedProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(out: io.StringIO, total: int) -> list[str]:
    """The lines of a seeding that takes a second for each hundred objects."""
    now = 0.0
    teller = SeedReporter(total, out, lambda: now)
    progress = SeedProgress("pods")
    for _ in range(total):
        now += 0.01
        progress.created += 1
        teller(progress)
    teller.finish(progress)
    return out.getvalue().splitlines()


def test_a_log_gets_a_line_each_tenth() -> None:
    lines = told(io.StringIO(), 2_000)
    assert len(lines) == 10
    assert lines[0] == "demo cluster: 10 %, 200 of 2,000 objects (pods)"
    assert lines[-1] == "demo cluster: complete, 2,000 objects in 20s"


def test_a_terminal_gets_a_line_every_few_seconds() -> None:
    lines = told(Terminal(), 1_000)
    assert len(lines) == 4 and lines[0].startswith("demo cluster: 3")
    assert len(told(Terminal(), 200)) == 1


def test_the_server_is_told_what_is_done_and_the_time_left() -> None:
    out, now, progress = io.StringIO(), 0.0, SeedProgress("pods")
    teller = ServerSeedReporter(400, out, lambda: now)
    teller(progress)
    for created, at in ((5, 0.2), (10, 0.5), (100, 4.0), (399, 16.0)):
        progress.created, now = created, at
        teller(progress)
    teller.finish(progress)
    assert out.getvalue().splitlines() == [
        "filling: 0 %, 0 of 400 objects, now pods",
        "filling: 2 %, 10 of 400 objects, now pods",
        "filling: 25 %, 100 of 400 objects, now pods, 12s left",
        "filling: 99 %, 399 of 400 objects, now pods, 1.0s left",
        "filling:",
    ]
