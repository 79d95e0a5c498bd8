"""Read logs with the workers of a Dask cluster (the extra `dask`). Each file is one task.

Workers open the files by the same names (a shared file system, or buckets) and have ktui installed.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

from ktui import install_command
from ktui.audit import partial
from ktui.audit.reading.files import Log, Progressed, read_log
from ktui.audit.reading.lake import in_lake
from ktui.audit.tally import Tally, TallyOptions

_ANSWERS = "10s"
_LOOK = 0.2  # seconds between two checks whether the user has stopped the reading


class ClusterError(ValueError):
    """A Dask cluster cannot be used; the message is one sentence."""


def read_on_dask(address: str, logs: list[Log], tally: Tally, report: Progressed) -> None:
    """Count every record of the logs in `tally`, read by the workers of the scheduler at `address`.

    Raises ClusterError.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ClusterError(f"--dask needs an extra: {install_command('dask')}") from None
    if any(log.descriptor >= 0 for log in logs):
        raise ClusterError("--dask takes files that the workers can open, not standard input")
    try:
        client = distributed.Client(address, timeout=_ANSWERS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    taken = 0
    with client:
        futures = [client.submit(read_part, *log[:3], *tally.options, pure=False) for log in logs]
        for log, future in zip(logs, futures, strict=True):
            while not future.done():
                report(log.name, taken)
                with suppress(TimeoutError):
                    future.exception(timeout=_LOOK)
            partial.add(tally, partial.read(future.result()))
            future.release()
            taken += log.size
        report(logs[-1].name, taken)


def read_part(name: str, argument: str, size: int, *options: Any) -> bytes:
    """Run on a worker: return the counts of a file as a partial, which names a file that cannot be opened."""
    tally = Tally(*TallyOptions(*options))
    try:
        read_log(Log(name, argument, size), tally, 0, lambda *_: None)
        tally.finish()
    except OSError as error:
        where = "its bucket" if in_lake(name) else "a worker"
        tally.open_file(name, argument).problem = f"cannot be opened by {where}: {error.strerror or error}"
    return partial.written(tally)
