"""Series of Prometheus, by version, and the findings whose alert rules they make fire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

STEP, SAMPLES = 30, 100  # seconds between samples, and their number: 50 minutes
UP = "up"
Values = Iterable[float | None]
Case = dict[str, Values]


def labelled(metric: str, minor: int, resource: str = "pods", replica: int = 0, **labels: str) -> str:
    """The name of a series of a resource, with the labels that the minor has."""
    found = {"job": "apiserver", "instance": f"10.0.0.{replica}:6443", **labels}
    if resource:
        plural, _, group = resource.partition(".")
        found |= {"group": group, "resource": plural} if minor >= 34 else {"resource": resource}
    return metric + "{" + ",".join(f'{name}="{value}"' for name, value in found.items()) + "}"


def up(minor: int, first: int = 0) -> Case:
    """A server that Prometheus has scraped from the sample `first` on."""
    return {labelled(UP, minor, ""): [0.0] * first + [1.0] * (SAMPLES - first)}


def growing(each: float, begin: int = 0) -> Values:
    """A counter that grows by `each` per sample; from `begin` on it is there."""
    return [None if at < begin else each * (at - begin) for at in range(SAMPLES)]


def once(at: int, value: float = 1.0) -> Values:
    """A counter that has no line before its first event."""
    return [None if sample < at else value for sample in range(SAMPLES)]


def flat(value: float) -> Values:
    return [value] * SAMPLES


def storage(metric: str, minor: int, resource: str = "pods", replica: int = 0) -> str:
    place = {"storage": "etcd"} if minor >= 37 else {}
    return labelled(f"apiserver_storage_list_{metric}_objects_total", minor, resource, replica, **place)


def objects(minor: int, count: int, resource: str = "pods", replica: int = 0) -> Case:
    name = "apiserver_resource_objects" if minor >= 34 else "apiserver_storage_objects"
    return {labelled(name, minor, resource, replica): flat(count)}


CHECKS = "apiserver_storage_consistency_checks_total"
CONSISTENT = "apiserver_watch_cache_consistent_read_total"
WAITS = "apiserver_watch_cache_read_wait_seconds"


def checked(minor: int, count: int) -> Case:
    """Two replicas that compare a cache of `count` objects every six minutes; a scrape falls in between."""
    series: Case = {}
    for replica in (0, 1):
        every, late = 12, 5 + replica
        done = [max(0, at - late) // every for at in range(SAMPLES)]
        read = [max(0, at + 1 - late) // every for at in range(SAMPLES)]
        series |= {
            storage("fetched", minor, "pods", replica): [count * n for n in read],
            labelled(CHECKS, minor, "pods", replica, status="success"): [float(n) for n in done],
            **objects(minor, count, "pods", replica),
        }
    return series


def waits(minor: int, per_sample: float, seconds: float, late: float = 0.0) -> Case:
    """Reads that waited for the cache: `per_sample` of them, `seconds` each, `late` of them over a second."""
    return {
        labelled(f"{WAITS}_sum", minor): growing(per_sample * seconds),
        labelled(f"{WAITS}_count", minor): growing(per_sample),
        labelled(f"{WAITS}_bucket", minor, le="1"): growing(per_sample - late),
        labelled(f"{WAITS}_bucket", minor, le="+Inf"): growing(per_sample),
    }


def lists_in_memory(minor: int, memory: float) -> Case:
    """A LIST of 20 MB a second that takes 5 s: 100 MB."""
    request = {"verb": "LIST", "version": "v1", "scope": "cluster"}
    took = "apiserver_request_duration_seconds"
    return {
        labelled("apiserver_response_sizes_sum", 34, **request): growing(20e6 * STEP),
        labelled(f"{took}_sum", 34, **request, dry_run=""): growing(5.0 * STEP),
        labelled(f"{took}_count", 34, **request, dry_run=""): growing(STEP),
        labelled("process_resident_memory_bytes", minor, ""): flat(memory),
    }


def level(metric: str, **labels: str) -> str:
    return labelled(f"apiserver_flowcontrol_{metric}", 0, "", priority_level="workload-low", **labels)


def cases(minor: int) -> Iterator[tuple[str, Case, int, set[str]]]:
    """What is there, at which minute, and which findings' rules fire then."""
    fallback = labelled(CONSISTENT, minor, success="false", fallback="true")
    yield "a first fallback", {fallback: once(40), **up(minor)}, 22, {"consistent-read-fallback"}
    yield "a fallback long ago", {fallback: once(40), **up(minor)}, 45, set()
    yield "a fallback before Prometheus began", {fallback: flat(3), **up(minor)}, 5, set()
    yield "a Prometheus that was away", {fallback: once(40, 3.0), **up(minor, 40)}, 22, set()
    yield (
        "further fallbacks", {fallback: [float(at > 40) + 7 for at in range(SAMPLES)], **up(minor)}, 23,
        {"consistent-read-fallback"},
    )  # fmt: skip
    yield "consistent reads", {
        labelled(CONSISTENT, minor, success="true", fallback="false"): growing(50), **up(minor)
    }, 30, set()  # fmt: skip
    rejected = labelled(CONSISTENT, minor, success="false", fallback="skipped")
    yield "a 429 of a late cache", {rejected: once(40), **up(minor)}, 22, {"consistent-read-rejected"}

    storm: Case = {storage("fetched", minor): growing(15_000), **objects(minor, 5_000), **up(minor)}
    yield "a LIST of 5,000 pods from etcd every 10 s", storm, 30, {"etcd-lists"}
    yield "the same for 9 minutes", {**storm, storage("fetched", minor): once_growing(60, 15_000)}, 38, set()
    slow: Case = {storage("fetched", minor): growing(2_500), **objects(minor, 5_000), **up(minor)}
    yield "a LIST of 5,000 pods every minute", slow, 40, set()
    yield "events", {storage("fetched", minor, "events"): growing(90_000), **up(minor)}, 40, set()
    if minor >= 33:
        yield "checks of 100,000 pods, no clients", {**checked(minor, 100_000), **up(minor)}, 40, set()
        both = checked(minor, 5_000)
        fetched = storage("fetched", minor)
        both[fetched] = [
            (own or 0) + 15_000 * at for at, own in enumerate(both[fetched])
        ]  # fmt: skip
        yield "checks and LISTs of clients", {**both, **up(minor)}, 40, {"etcd-lists"}

    failed = labelled(CHECKS, minor, status="failure")
    yield "a cache that differs", {failed: once(40), **up(minor)}, 22, {"cache-inconsistent"}
    errors = labelled(CHECKS, minor, status="error")
    yield "checks that end with errors", {errors: growing(1 / 12), **up(minor)}, 49, {"cache-check-error"}
    agreed = {labelled(CHECKS, minor, status="success"): growing(1 / 6)}
    yield "fewer errors than checks", {errors: growing(1 / 12), **agreed, **up(minor)}, 49, set()

    yield "waits of 0.3 s", {**waits(minor, 10, 0.3), **up(minor)}, 30, {"slow-consistent-reads"}
    yield "one in fifty waits is late", {**waits(minor, 10, 0.05, 0.2), **up(minor)}, 30, {
        "slow-consistent-reads"
    }  # fmt: skip
    yield "short waits", {**waits(minor, 10, 0.02, 0.05), **up(minor)}, 30, set()
    yield "few waits", {**waits(minor, 0.5, 2.0, 0.5), **up(minor)}, 40, set()
    timed_out = {fallback: growing(1), **waits(minor, 10, 2.0, 9), **up(minor)}
    yield "waits that time out", timed_out, 30, (
        {"consistent-read-fallback"} if minor >= 31 else {"slow-consistent-reads"}
    )  # fmt: skip

    fill = labelled("apiserver_watch_cache_initialization_errors_total", minor, "widgets.example.com")
    yield "a cache that cannot be filled", {fill: growing(1, 40), **up(minor)}, 22, {"cache-cannot-fill"}
    ended = labelled("apiserver_terminated_watchers_total", minor)
    yield "slow WATCHes", {ended: once(40, 4.0), **up(minor)}, 22, {"slow-watchers"}
    yield "no slow WATCH for long", {ended: flat(4), **up(minor)}, 45, set()
    yield "LISTs that hold 20 % of the memory", lists_in_memory(minor, 500e6), 40, {"list-memory"}
    yield "LISTs that hold 2 % of the memory", lists_in_memory(minor, 5e9), 40, set()

    refused = level("rejected_requests_total", flow_schema="service-accounts", reason="queue-full")
    yield "429 for ten minutes", {refused: growing(2, 20), **up(minor)}, 22, {"rejected"}
    yield "one burst of 429", {refused: once(20, 50.0), **up(minor)}, 13, set()
    queued = level("current_inqueue_requests", flow_schema="service-accounts")
    yield "a queue that is never empty", {queued: flat(3)}, 15, {"queue-never-empty"}
    sometimes = [float(at % 10 != 0) * 3 for at in range(SAMPLES)]
    yield "a queue that is empty at times", {queued: sometimes}, 45, set()


def once_growing(begin: int, each: float) -> Values:
    return [max(0, at - begin) * each for at in range(SAMPLES)]
