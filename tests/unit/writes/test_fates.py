"""The effect of a deletion on an object: removed, marked, or kept."""

from __future__ import annotations

import datetime

import pytest

from ktui.writes.before_delete import Fate, begin_deletion, grace_seconds
from ktui.writes.before_update import finished_deleting
from ktui.writes.options import DeleteOptions
from tests.unit.writes.objects import Obj, config_map, pod

BOUND = pod()


NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


GONE = {"deletionTimestamp": "2029-12-31T23:00:00Z", "deletionGracePeriodSeconds": 0}


ENDING = {"deletionTimestamp": "2030-01-01T00:00:20Z", "deletionGracePeriodSeconds": 30}


JOB = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {}}


@pytest.mark.parametrize(
    ("obj", "options", "fate"),
    [
        (config_map(), DeleteOptions(), Fate.REMOVE),
        (config_map(finalizers=["a/b"]), DeleteOptions(), Fate.MARK),
        (config_map(finalizers=["a/b"], **GONE), DeleteOptions(), Fate.NOTHING),
        (config_map(), DeleteOptions(policy="Foreground"), Fate.MARK),
        (config_map(finalizers=["orphan"]), DeleteOptions(policy="Background"), Fate.REMOVE),
        (BOUND, DeleteOptions(), Fate.MARK),
        (BOUND, DeleteOptions(grace_seconds=0), Fate.MARK_AND_REMOVE),
        (pod(spec={}), DeleteOptions(), Fate.MARK_AND_REMOVE),
        (pod(status={"phase": "Failed"}), DeleteOptions(), Fate.MARK_AND_REMOVE),
        (
            {**BOUND, "metadata": {**ENDING}},
            DeleteOptions(),
            Fate.NOTHING,
        ),
        (
            {**BOUND, "metadata": {**ENDING}},
            DeleteOptions(grace_seconds=0),
            Fate.MARK_AND_REMOVE,
        ),
        ({"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}}, DeleteOptions(), Fate.MARK),
        (JOB, DeleteOptions(), Fate.MARK),
        (JOB, DeleteOptions(policy="Background"), Fate.REMOVE),
        ({**JOB, "apiVersion": "v1", "kind": "ReplicationController"}, DeleteOptions(), Fate.MARK),
        ({**JOB, "apiVersion": "batch/v1", "kind": "CronJob"}, DeleteOptions(), Fate.REMOVE),
        ({"kind": "Event", "metadata": {}}, DeleteOptions(policy="Foreground"), Fate.REMOVE),
    ],
)
def test_fates(obj: Obj, options: DeleteOptions, fate: Fate) -> None:
    assert begin_deletion(obj, options, NOW)[0] is fate


def test_a_marked_pod_has_its_grace() -> None:
    metadata = begin_deletion(BOUND, DeleteOptions(), NOW)[1]["metadata"]
    assert metadata["deletionTimestamp"] == "2030-01-01T00:00:30Z"
    assert metadata["deletionGracePeriodSeconds"] == 30
    assert metadata["generation"] == 2
    assert grace_seconds(BOUND, DeleteOptions(grace_seconds=5)) == 5


@pytest.mark.parametrize(
    ("seconds", "end", "grace"),
    [(25, "2030-01-01T00:00:15Z", 25), (5, "2030-01-01T00:00:00Z", 1), (0, "2030-01-01T00:00:00Z", 0)],
)
def test_a_shorter_grace_period_ends_at_the_earliest_now(seconds: int, end: str, grace: int) -> None:
    ending = {**BOUND, "metadata": {**ENDING}}
    metadata = begin_deletion(ending, DeleteOptions(grace_seconds=seconds), NOW)[1]["metadata"]
    assert (metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"]) == (end, grace)


@pytest.mark.parametrize(
    ("present", "policy", "wanted"),
    [
        ([], "", ["orphan"]),
        (["a/b", "foregroundDeletion"], "", ["a/b", "foregroundDeletion"]),
        (["foregroundDeletion", "a/b"], "Orphan", ["a/b", "orphan"]),
        (["orphan", "a/b"], "Orphan", ["orphan", "a/b"]),
    ],
)
def test_the_collectors_finalizers_of_a_job(present: list[str], policy: str, wanted: list[str]) -> None:
    job = {**JOB, "metadata": {"finalizers": present}}
    assert begin_deletion(job, DeleteOptions(policy=policy), NOW)[1]["metadata"]["finalizers"] == wanted


def test_a_deleted_object_goes_with_its_last_finalizer() -> None:
    assert finished_deleting(config_map(deletionTimestamp="t", deletionGracePeriodSeconds=0))
    assert not finished_deleting(config_map(deletionTimestamp="t", finalizers=["a/b"]))
    assert not finished_deleting(config_map())
