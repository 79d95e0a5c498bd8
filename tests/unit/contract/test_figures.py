"""One definition of a request's figures: in the meter, in events, on the wire, added up."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ktui.contract.events import COUNTS, FIGURES, Cost, RequestFinished, WatcherState, figures
from ktui.core.lab.measured import Measured
from ktui.core.ranking.ranking import TotalCost, by_answer
from ktui.core.sharing.share import TABLE, Treatment
from ktui.telemetry.meter import Meter

PAGE = Path(__file__).parents[3] / "docs" / "meter.md"


def counted() -> Meter:
    """A meter in which every figure has a value of its own."""
    meter = Meter(request_id=7)
    for value, name in enumerate(FIGURES, 2):
        setattr(meter, name, value)
    return meter


def finished(meter: Meter) -> RequestFinished:
    return RequestFinished(*figures(meter), id=7, status=200, route="cache", ms=1.0)


def test_an_event_carries_each_figure_of_the_meter_under_its_own_key() -> None:
    meter = counted()
    wire = msgspec.json.decode(msgspec.json.encode(finished(meter)))
    assert {name: wire[name] for name in FIGURES} == {name: getattr(meter, name) for name in FIGURES}
    assert wire["type"] == "request_finished" and not any(isinstance(value, dict) for value in wire.values())
    state = WatcherState(*figures(meter), id=7, resource="pods")
    assert figures(state) == figures(meter)


def test_an_event_from_before_a_figure_was_added_has_it_at_zero() -> None:
    old = b'{"type":"request_finished","id":1,"status":200,"route":"etcd","ms":2.0,"fetched":9,"toll":3}'
    event = msgspec.json.decode(old, type=RequestFinished)
    assert (event.fetched, event.etcd_bytes, event.amplification) == (9, 0, None)


def test_costs_add_up() -> None:
    event = finished(counted())
    spent = TotalCost()
    spent.merge(by_answer(event))
    spent.merge(by_answer(event))
    assert spent.count == 2
    assert figures(spent) == tuple(2 * value for value in figures(event))
    assert figures(spent.since(by_answer(event))) == figures(event)
    assert spent.processed_bytes == 2 * event.processed_bytes


def test_each_count_is_in_the_document_of_a_measured_request() -> None:
    measured = Measured("/api/v1/pods")
    measured.add_account(finished(counted()))
    assert measured.counters == {name: getattr(counted(), name) for name in COUNTS}
    document = measured.document()
    assert list(document["objects"]) == ["fetched", "evaluated", "matched", "returned", "decoded"]
    assert list(document["etcd"]) == ["rpcs", "keys", "bytes"]
    assert list(document["bytes"]) == ["decoded", "encoded", "sent", "imputed", "received", "processed"]
    assert document["cpu_ms"] == counted().cpu_ms


def test_each_figure_may_be_shared_and_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    for name in Cost.__struct_fields__:
        assert TABLE["request_finished"][name] is TABLE["watcher"][name] is Treatment.KEEP
        assert f"`{name}`" in page, name
