"""Choose the queues that a flow may use: a hand of cards, dealt by the flow's hash.

Upstream: apiserver/pkg/util/shufflesharding. Two flows rarely share their whole hand, so a flow that fills
its queues leaves other flows some of theirs.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache


@lru_cache(maxsize=4096)
def hand_of(schema: str, flow: str, queues: int, hand_size: int) -> tuple[int, ...]:
    """Return the numbers of `hand_size` different queues out of `queues`."""
    digest = hashlib.sha256(schema.encode() + b"\0" + flow.encode()).digest()
    return deal(int.from_bytes(digest[:8], "little"), queues, hand_size)


def deal(entropy: int, deck: int, hand_size: int) -> tuple[int, ...]:
    """A hand of different cards, each below `deck`; with uniform `entropy` every hand is equally likely."""
    hand: list[int] = []
    remainders: list[int] = []
    for taken in range(hand_size):
        entropy, remainder = divmod(entropy, deck - taken)
        remainders.append(remainder)
    for place, card in enumerate(remainders):
        for earlier in reversed(remainders[:place]):
            if card >= earlier:
                card += 1
        hand.append(card)
    return tuple(hand)
