"""Details of the tables over an etcd, as text."""

from __future__ import annotations

from ktui.contract.etcd_documents import Churn, LeaseChurn
from ktui.contract.events import Prefix
from ktui.core.live.live_state import LiveState
from ktui.core.stored import ResourceSources
from ktui.tui.overview.stored_panels import leases_content, sources_content, sources_title


def churn(*leases: LeaseChurn) -> Churn:
    return Churn(10.0, 5, leases=len(leases), leased=3, lease_list=list(leases))


def test_a_lease_with_its_ttl_and_its_keys() -> None:
    shown = leases_content(
        churn(LeaseChurn(0x5A1, 2, "events", 3_120), LeaseChurn(0x5A2, 1, "", -1)), 80, 8
    ).plain.splitlines()
    assert shown[0].split() == ["5a1", "expires", "in", "52m,", "2", "changed", "keys", "of", "events"]
    assert shown[1].split() == ["5a2", "expired,", "1", "changed", "key", "of", "no", "resource"]


def test_a_ttl_that_is_not_asked_for_says_why() -> None:
    shown = leases_content(churn(LeaseChurn(7, 2, "events")), 80, 8).plain
    assert "LeaseTimeToLive is not sent to an etcd that is only read" in shown
    assert "TTL ?, 2 changed keys of events" in shown


def test_more_leases_than_lines_are_counted() -> None:
    shown = leases_content(churn(*(LeaseChurn(n + 1, 1, "events", 9) for n in range(20))), 80, 5).plain
    assert len(shown.splitlines()) == 5
    assert "20 leases in all" in shown


def test_a_resource_of_which_only_the_keys_are_known() -> None:
    row = ResourceSources("pods", None, None, Prefix(prefix="/registry/pods/", count=2, bytes=0, exact=False))
    shown = sources_content(row, 80, 8).plain
    assert "not in the audit log" in shown
    assert "not in the metrics" in shown
    assert "2 keys, not read" in shown


def test_the_title_says_which_sources_there_are() -> None:
    assert sources_title(LiveState()).plain == "a no audit log · m no metrics · e etcd"
