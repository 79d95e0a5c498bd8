"""Requests that took the same walk share it in memory."""

from ktui.contract.events import RequestRouted, RouteStep
from ktui.core.reducer import shared


def routed(number: int, head: int) -> RequestRouted:
    steps = [
        RouteStep("".join(["continue", "?"]), "".join(["no ", "token"]), False),
        RouteStep("revision probe", f"cache at {head}", True),
    ]
    return RequestRouted(
        id=number, route="cache", reason_id="c.x", reason="".join(["why ", "it"]), steps=steps
    )


def test_equal_steps_are_one_object() -> None:
    one, other = shared(routed(1, 10)), shared(routed(2, 11))
    assert (one, other) == (routed(1, 10), routed(2, 11))
    assert one.steps[0] is other.steps[0]
    assert one.reason is other.reason
    assert [step.saw for step in (one.steps[1], other.steps[1])] == ["cache at 10", "cache at 11"]
