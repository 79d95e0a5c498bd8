"""The size of a range from places in it: the interval has to cover the truth of generated clusters."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise
from random import Random

import pytest

from ktui.storage.prefix_sizes import RangeSample, StoredSize

PREFIX = b"/registry/pods/"
HASH = "bcdfghjklmnpqrstvwxz2456789"
SEEDS = range(100)


def cluster(rng: Random, outlier: int) -> dict[bytes, int]:
    """Sizes by key: log-normal, of another mean in each namespace, and one object of `outlier` bytes."""
    namespaces = rng.randint(1, 40)
    names = [f"{rng.choice(['team', 'a', 'kube', 'prod'])}-{number:03}" for number in range(namespaces)]
    weights = [1 / (place + 1) for place in range(namespaces)]
    spread = rng.choice([0, 0.5, 1.0])
    means = [rng.lognormvariate(math.log(3000), spread) for _ in names]
    style, sigma = rng.choice(["pod", "uuid", "number"]), rng.choice([0.2, 0.5, 1.0])
    found: dict[bytes, int] = {}
    for number in range(rng.choice([100, 300, 1000])):
        (namespace,) = rng.choices(range(namespaces), weights)
        suffix = {
            "pod": f"web-7d9f8b6c5d-{''.join(rng.choices(HASH, k=5))}",
            "uuid": f"{rng.getrandbits(64):016x}",
            "number": f"cache-p{number:07}",
        }[style]
        size = int(rng.lognormvariate(math.log(means[namespace]), sigma))
        found[PREFIX + f"{names[namespace]}/{suffix}".encode()] = max(200, size)
    if outlier:
        found[rng.choice(sorted(found))] = outlier
    return found


class Etcd:
    """A sorted range, read as etcd is; counts what is read of it."""

    def __init__(self, sizes: dict[bytes, int]) -> None:
        self.keys = sorted(sizes)
        self.sizes = sizes
        self.rpcs = 0

    def read(self, sample: RangeSample, places: int, each: int) -> StoredSize:
        """Read at up to `places` places, `each` keys at each."""
        for _ in range(2 * places):
            read = sample.next_read() if sample.places < places else None
            if read is None:
                break
            skipped_from, start, stop = (bisect_left(self.keys, key) for key in read)
            end = stop if read[2] else len(self.keys)
            found = [(key, self.sizes[key]) for key in self.keys[start : min(end, start + each)]]
            sample.add(found, start - skipped_from)
            self.rpcs += 2
        return sample.estimate()


@pytest.mark.parametrize(("places", "outlier"), [(8, 900_000), (16, 0), (32, 900_000)])
def test_the_interval_covers_95_of_100_clusters(places: int, outlier: int) -> None:
    covered, widths = 0, []
    for seed in SEEDS:
        rng = Random(seed)
        etcd = Etcd(cluster(rng, outlier))
        found = etcd.read(RangeSample(PREFIX, len(etcd.keys), rng), places, 3)
        truth = sum(etcd.sizes.values())
        covered += found.low <= truth <= found.high
        assert found.low <= found.bytes <= found.high and etcd.rpcs <= 4 * places
        widths.append(found.high / max(1, found.low))
    assert covered >= 95
    assert sorted(widths)[50] < (100 if places == 8 else 6)


def test_places_spread_over_the_whole_range() -> None:
    longest = []
    for seed in SEEDS:
        rng = Random(seed)
        etcd = Etcd(cluster(rng, 0))
        sample = RangeSample(PREFIX, len(etcd.keys), rng)
        etcd.read(sample, 32, 3)
        places = [etcd.keys.index(place.first) for place in sample._places]
        steps = [two - one for one, two in pairwise([*places, len(etcd.keys)])]
        longest.append(max(steps) / len(etcd.keys))
    assert sorted(longest)[50] < 0.15 and sorted(longest)[95] < 0.5


def test_few_keys_are_read_to_the_end() -> None:
    sizes = {PREFIX + f"a/{number}".encode(): 10 * number for number in range(1, 20)}
    etcd = Etcd(sizes)
    found = etcd.read(RangeSample(PREFIX, len(sizes), Random(3)), 100, 3)
    assert found == StoredSize(len(sizes), 1900, True, 1900, 1900)


def test_keys_that_cannot_be_divided_end_the_search() -> None:
    """Bytes above every letter: nothing can be skipped."""
    sample = RangeSample(PREFIX, 1000, Random(1))
    sample.add([(PREFIX + b"\xff\xff", 10)], 0)
    assert sample.next_read() is None
    assert sample.estimate().bytes == 10_000


def test_nothing_read_is_nothing() -> None:
    assert RangeSample(PREFIX, 0, Random(1)).estimate() == StoredSize(0, 0, True)
