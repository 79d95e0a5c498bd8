"""The streamed reader of metrics: what is wanted is kept whatever comes around it, in bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.client.metrics_page import LONGEST_LINE, Exposition, ExpositionError, Sample, Wanted
from ktui.live.families import WANTED
from tests.unit.live.recorded import FIRST, metrics

ONE = {b"a_total": Wanted([b"a_total"])}


def read(page: bytes, wanted: dict[bytes, Wanted] = ONE, cut: int = 1 << 16) -> Exposition:
    reader = Exposition(wanted)
    for start in range(0, len(page), cut):
        reader.feed(page[start : start + cut])
    reader.finish()
    return reader


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        ("a_total 3", {}, 3.0),
        ("a_total{} 3", {}, 3.0),
        ('a_total{x="1",y="b c"} 1.5e+06', {"x": "1", "y": "b c"}, 1.5e6),
        ('a_total{x="}{"} 1', {"x": "}{"}, 1.0),
        (r'a_total{x="a\"b\\c\nd"} 1', {"x": 'a"b\\c\nd'}, 1.0),
        ('a_total{x="ü"} 1 1795352874000', {"x": "ü"}, 1.0),
    ],
)
def test_a_sample(line: str, labels: dict[str, str], value: float) -> None:
    assert read(f"{line}\n".encode()).samples == [Sample("a_total", labels, value)]


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "", "x", "1,5"])
def test_what_is_not_a_number_is_counted_and_left_out(value: str) -> None:
    reader = read(f"a_total {value}\na_total 1\n".encode())
    assert [sample.value for sample in reader.samples] == [1.0]
    assert reader.skipped == 1


def test_only_wanted_samples_are_kept() -> None:
    page = b"# TYPE a histogram\na_bucket 1\na_sum 2\na_count 3\na_sum_of 9\n# TYPE b gauge\na_sum 8\nb 4\n"
    reader = read(page, {b"a": Wanted([b"a_sum", b"a_count"])})
    assert [(sample.name, sample.value) for sample in reader.samples] == [("a_sum", 2.0), ("a_count", 3.0)]
    assert reader.families == {"a"}
    assert reader.last_family == b"b"


def test_a_wanted_text_must_be_in_the_line() -> None:
    page = b'# TYPE a counter\na{verb="GET"} 1\na{verb="LIST"} 2\n'
    assert [sample.value for sample in read(page, {b"a": Wanted([b"a"], b'"LIST"')}).samples] == [2.0]


def test_a_line_of_two_megabytes_is_skipped_and_the_rest_is_read() -> None:
    for name in (b"a_total", b"other"):
        page = b"a_total 1\n" + name + b'{x="' + b"y" * (2 << 20) + b'"} 1\na_total 2\n'
        reader = read(page)
        assert [sample.value for sample in reader.samples] == [1.0, 2.0]
        assert len(reader._rest) < LONGEST_LINE


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html>", "not Prometheus metrics: it begins with '<!DOCTYPE html>"),
        (b'{"kind":"Status"}\n', "not Prometheus metrics"),
        (b"Forbidden\n", "no metrics in it"),
        (b"a_total 1\na_tot", "cut off after 15 bytes"),
        (b"a_total 1\na_total 12", "cut off"),
    ],
)
def test_what_is_not_a_whole_page(page: bytes, says: str) -> None:
    with pytest.raises(ExpositionError, match=says):
        read(page)


@given(st.integers(1, 5000))
def test_chunks_may_end_anywhere(cut: int) -> None:
    page = metrics(0, FIRST)[:30_000]
    page = page[: page.rindex(b"\n") + 1]
    whole = sorted(read(page, dict(WANTED)).samples, key=str)
    assert sorted(read(page, dict(WANTED), cut).samples, key=str) == whole


@given(st.binary(max_size=3000), st.integers(1, 700))
def test_any_bytes_are_read_or_refused(page: bytes, cut: int) -> None:
    reader = Exposition(ONE)
    try:
        for start in range(0, len(page), cut):
            reader.feed(page[start : start + cut])
        reader.finish()
    except ExpositionError as error:
        assert "\n" not in str(error)
