"""Which broken watches are resumed, and for how long."""

from __future__ import annotations

import pytest

from ktui.cacher.errors import WatchRetryPolicy
from ktui.etcd.errors import CompactedError, EtcdError, PermissionDeniedError, UnreachableError
from ktui.kube.versions import behaviour_of
from ktui.storage.errors import UnreadableError

BROKEN = UnreachableError("the connection broke", "Connection reset by peer")
NO_LEADER = UnreachableError("etcd cannot serve now", "etcdserver: no leader")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("version", ["1.19", "1.24", "1.25", "1.36"])
def test_a_connection_is_made_again_for_as_long_as_it_takes(version):
    clock = Clock()
    patience = WatchRetryPolicy(clock)
    for clock.now in (0.0, 40.0, 4000.0):
        assert patience.should_retry(BROKEN, behaviour_of(version))


@pytest.mark.parametrize("error", [NO_LEADER, EtcdError("cancelled"), PermissionDeniedError("no")])
def test_what_etcd_itself_says_is_borne_for_half_a_minute_since_1_25(error):
    clock = Clock()
    patience, behaviour = WatchRetryPolicy(clock), behaviour_of("1.25")
    for clock.now, borne in ((100.0, True), (130.0, True), (130.1, False), (160.1, True), (190.2, False)):
        assert patience.should_retry(error, behaviour) is borne
    assert not WatchRetryPolicy(clock).should_retry(error, behaviour_of("1.24"))


@pytest.mark.parametrize("error", [CompactedError("gone"), UnreadableError("/k", "encrypted")])
def test_an_error_that_no_retry_mends_is_listed_again(error):
    assert not WatchRetryPolicy().should_retry(error, behaviour_of("1.36"))


def test_attempts_become_rarer_until_there_was_peace():
    clock = Clock()
    patience = WatchRetryPolicy(clock)
    pauses = []
    for _ in range(7):
        pauses.append(patience.pause())
        clock.now += pauses[-1]
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    clock.now += 60.0
    assert patience.pause() == 0.1
