"""Hands of queues."""

from __future__ import annotations

from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ktui.flowcontrol.fair_queues import deal, hand_of


@given(st.integers(0, 2**64 - 1), st.integers(1, 200), st.data())
def test_a_hand_has_different_cards_of_the_deck(entropy: int, deck: int, data: st.DataObject) -> None:
    hand_size = data.draw(st.integers(1, min(deck, 8)))
    dealt = deal(entropy, deck, hand_size)
    assert len(dealt) == hand_size == len(set(dealt))
    assert all(0 <= card < deck for card in dealt)


def test_every_hand_is_dealt_as_often() -> None:
    deck, hand_size = 6, 3
    hands = Counter(deal(entropy, deck, hand_size) for entropy in range(6 * 5 * 4))
    assert set(hands.values()) == {1}
    assert len(hands) == 6 * 5 * 4


def test_the_order_is_upstreams() -> None:
    # By hand: 3 * 4 + 2 of a deck of 4 is card 2, then the 3 // 1 … of the rest.
    assert deal(14, 4, 2) == (2, 0)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_flow_keeps_its_hand(schema: str, flow: str) -> None:
    assert hand_of(schema, flow, 128, 6) == hand_of(schema, flow, 128, 6)


def test_two_flows_hardly_ever_share_all_queues() -> None:
    hands = [set(hand_of("service-accounts", f"user{number}", 128, 6)) for number in range(200)]
    shared = [len(one & other) for one, other in product(hands, hands) if one is not other]
    assert max(shared) < 6
    assert sum(shared) / len(shared) < 0.5  # 6 * 6 / 128 is 0.28
