"""The same log in every form gives the same report; what gives nothing says why."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.predictions import EITHER
from ktui.audit.reading import files
from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.reading.json_values import LARGEST, Documents
from ktui.audit.reading.record_framing import join_parts
from ktui.audit.reading.streams import CHUNK, LONGEST, LongLine
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from tests.unit.audit import carriers
from tests.unit.audit.carriers import CARRIERS, aks_record, compact, gke_entry, joined, plain_log, write
from tests.unit.audit.logs import audit_event, httplog

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 20, tzinfo=UTC)
LOG = plain_log()
COUNTED = ("groups", "versions", "requests", "span", "summary", "groups_total", "observed")


def report_of(*names: Path | str, version: str = "1.30") -> Report:
    tally = Tally(NOW)
    with open_logs([str(name) for name in names]) as logs:
        read_logs(logs, tally, lambda name, taken: None)
    return Wish(version).report(tally, 1000)


def written(directory: Path, data: bytes, name: str = "some.log") -> Path:
    path = directory / name
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(written(tmp_path_factory.mktemp("plain"), joined(LOG)))


def test_the_plain_log_has_what_was_written(plain: Report) -> None:
    requests = plain.requests
    assert requests.list + requests.get + requests.watch == 300
    assert (plain.lines.audit, plain.lines.skipped, plain.lines.malformed) == (300, 160, 0)
    assert plain.files[0].problem == ""


@pytest.mark.parametrize("form", CARRIERS)
def test_every_form_gives_the_report_of_the_plain_log(form: str, tmp_path: Path, plain: Report) -> None:
    report = report_of(written(tmp_path, CARRIERS[form](LOG)))
    for name in COUNTED:
        assert getattr(report, name) == getattr(plain, name), name
    assert (report.lines.audit, report.lines.malformed, report.lines.duplicates) == (300, 0, 0)
    assert all(file.problem == "" for file in report.files)


@pytest.mark.parametrize(
    "form", ["gzip", "zstd", "bzip2", "xz", "tar.zst", "zip", "zip of tar.zst", "must-gather"]
)
def test_packed_logs_of_more_than_a_chunk(form: str, tmp_path: Path) -> None:
    log = plain_log(1200)
    assert len(joined(log)) > 2 * CHUNK
    report = report_of(written(tmp_path, CARRIERS[form](log)))
    assert ([file.problem for file in report.files if file.problem], report.lines.audit) == ([], 1200)


def test_a_folder_and_a_pattern_of_names_with_all_forms_mixed(tmp_path: Path, plain: Report) -> None:
    for number, (form, part) in enumerate(zip(CARRIERS.values(), carriers.batches(LOG, 10), strict=False)):
        written(tmp_path, form(part), f"{number:03}")
    for name in (tmp_path, f"{tmp_path}/*"):
        report = report_of(name)
        assert report.requests == plain.requests
        assert report.versions == plain.versions
        assert {(g.client, g.example, g.count) for g in report.groups} == {
            (g.client, g.example, g.count) for g in plain.groups
        }


def test_a_log_in_two_files_counts_once(tmp_path: Path, plain: Report) -> None:
    """An export that overlaps with another, in another form."""
    first = written(tmp_path, joined(LOG[:300]), "a.log")
    second = written(tmp_path, CARRIERS["Firehose"](LOG[200:]), "b.json")
    report = report_of(first, second)
    assert report.requests == plain.requests
    assert [(g.client, g.count, g.latency, g.errors) for g in report.groups] == [
        (g.client, g.count, g.latency, g.errors) for g in plain.groups
    ]
    assert report.lines.duplicates == report.lines.audit - 300 > 0
    assert any("repeat another one" in note for note in report.notes)


# What loses something on the way.


def test_gke_gives_the_clients_and_a_set_of_routes(tmp_path: Path, plain: Report) -> None:
    entries = [gke_entry(request) for request in carriers.requests(300)]
    report = report_of(written(tmp_path, joined([compact(entry) for entry in entries])))
    assert report.requests == plain.requests
    assert sum(g.count for g in report.groups) == 300
    lists = [g for g in report.groups if g.verb == "list"]
    assert all(g.route == EITHER and g.possible_routes == ("cache", "etcd") for g in lists)
    assert all(g.latency is None for g in report.groups)
    assert all(g.resource_version == "unknown" and not g.cheaper and not g.warnings for g in report.groups)
    assert report.versions[0].unknown == report.requests.list
    assert "query strings, which these logs leave out" in report.summary
    assert any("have no query strings" in note for note in report.notes)
    errors = sum(sum(g.errors.values()) for g in report.groups)
    assert errors == sum(sum(g.errors.values()) for g in plain.groups) > 0
    by_client = {g.client for g in plain.groups}
    assert {g.client for g in report.groups} == by_client


def test_gke_watches_count_once_and_custom_resources_keep_their_group(tmp_path: Path) -> None:
    request = carriers.requests(1)[0]
    watch = msgspec.structs.replace(request, verb="watch", uri="/apis/cilium.io/v2/ciliumnodes", id="w")
    started, ended = gke_entry(watch), gke_entry(watch)
    started["operation"] = {"id": "w", "first": True}
    ended["operation"] = {"id": "w", "last": True}
    lines = [
        compact(started),
        compact(ended),
        compact(
            {
                "insertId": "1",
                "protoPayload": {
                    "methodName": "google.container.v1.ClusterManager.UpdateCluster",
                    "serviceName": "container.googleapis.com",
                },
                "timestamp": carriers.TIME,
            }
        ),
    ]
    report = report_of(written(tmp_path, joined(lines)))
    (group,) = report.groups
    assert (group.verb, group.resource, group.count) == ("watch", "ciliumnodes.cilium.io", 1)
    assert (report.lines.skipped, report.lines.malformed) == (1, 0)


def test_the_request_log_in_json_is_read_like_its_klog_lines(tmp_path: Path) -> None:
    found = carriers.requests(80)
    lines = [carriers.json_httplog(request) for request in found]
    klog = [httplog(msgspec.structs.replace(r, verb=r.verb.upper(), user="", seats=2), 30) for r in found]
    plain_lines = report_of(written(tmp_path, joined(klog), "k"))
    report = report_of(written(tmp_path, joined(lines), "j"))
    assert [(g.client, g.count, g.latency, g.seats) for g in report.groups] == [
        (g.client, g.count, g.latency, g.seats) for g in plain_lines.groups
    ]
    assert report.lines.httplog == 80


def test_other_categories_of_aks_have_klog_lines(tmp_path: Path) -> None:
    line = httplog(LoggedRequest("LIST", "/api/v1/pods", "a/1", "", 1_787_000_000_000_000, 5, 200), 30)
    record = aks_record(line.decode(), "kube-apiserver")
    report = report_of(written(tmp_path, compact(record)))
    assert (report.requests.list, report.lines.httplog) == (1, 1)


# Files that give nothing.

NOTHING = {
    "empty": (b"", "it is empty"),
    "a YAML file": (b"apiVersion: v1\nkind: Pod\n", "2 malformed records"),
    "writes": (joined([audit_event(write(n)) for n in range(7)]), "7 audit Events, all of writes"),
    "kube-audit-admin": (
        joined([compact(aks_record(audit_event(write(n)).decode(), "kube-audit-admin")) for n in range(7)]),
        "kube-audit-admin leaves out get and list",
    ),
    "other JSON": (b'{"a":1}\n{"b":[2]}\n', "2 JSON values without an audit Event"),
    "klog at -v=2": (b'I0823 08:55:54.330840       1 trace.go:205] "x"\n' * 3, "from -v=3 on"),
    "control messages": (compact(carriers.CONTROL), "control messages"),
    "lz4": (b"\x04\x22\x4d\x18" + b"\x80\x01" * 40, "lz4 -d"),
    "Parquet": (b"PAR1\x15\x04\x15\x80", "its name must end in .parquet"),
    "archive of nothing": (carriers.zip_of({"a.yaml": b"a: b"}), "an archive without a log"),
    "early stages": (
        joined([audit_event(r, "RequestReceived") for r in carriers.requests(3)]),
        "RequestReceived",
    ),
    "cut at 256 KB": (
        audit_event(carriers.requests(1)[0], body='{"x":"' + "y" * 300_000)[:262_144],
        "1 malformed",
    ),
    "NUL bytes": (b"\0" * 5000, "1 malformed"),
}


def test_an_archive_of_newlines_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BLANK", 1_000_000)
    found = carriers.zip_of({"audit.log": joined(LOG) + b"\n" * 3_000_000, "other.log": joined(LOG)})
    report = report_of(written(tmp_path, found))
    assert [file.problem for file in report.files] == [files.TOO_BLANK, ""]
    assert report.requests.list + report.requests.get + report.requests.watch == 300  # each once
    few = joined(LOG) + b"\n" * 900_000 + joined(LOG)
    assert report_of(written(tmp_path, few, "few")).files[0].problem == ""


def test_what_may_never_end_or_begin_is_named_instead_of_read(tmp_path: Path) -> None:
    fifo, device = tmp_path / "fifo.log", tmp_path / "zero.log"
    os.mkfifo(fifo)
    device.symlink_to("/dev/zero")
    for path, why in ((fifo, "a FIFO, not a log"), (device, "a device, a link to /dev/zero, not a log")):
        with pytest.raises(OSError, match=why) as caught, open_logs([str(path)]):
            pass
        assert caught.value.filename == str(path)
    with pytest.raises(FileNotFoundError, match="no log file in this folder"), open_logs([str(tmp_path)]):
        pass


def test_the_pipe_of_a_shell_is_read() -> None:
    """`ktui audit <(zcat …)`"""
    reading, writing = os.pipe()
    os.write(writing, joined(LOG[:3]))
    os.close(writing)
    assert report_of(f"/dev/fd/{reading}").lines.total == 3
    os.close(reading)


@pytest.mark.parametrize("kind", NOTHING)
def test_a_file_that_gives_nothing_says_why(kind: str, tmp_path: Path) -> None:
    data, why = NOTHING[kind]
    report = report_of(written(tmp_path, data))
    assert why in report.files[0].problem
    assert "hold no LIST" not in report.summary
    assert report.groups == ()


def test_a_file_that_gives_nothing_beside_one_that_does(tmp_path: Path) -> None:
    report = report_of(written(tmp_path, b'{"a":1}', "a"), written(tmp_path, joined(LOG), "b"))
    assert [bool(file.problem) for file in report.files] == [True, False]


# Damaged, hostile and huge.


def test_events_that_are_cut_off_are_counted_and_named(tmp_path: Path) -> None:
    cut = [audit_event(request)[:400] for request in carriers.requests(9, seed=2)]
    message = compact(carriers.subscription(cut))
    report = report_of(written(tmp_path, joined([*LOG, message])))
    assert report.lines.malformed == 9
    assert "cut off" in report.malformed[0].why
    assert report.requests.list + report.requests.get + report.requests.watch == 300


@pytest.mark.parametrize("damage", [b"\0\0\0\0", b"", b"\xff\xfe\xc3("])
def test_bytes_that_do_not_belong_before_a_line(damage: bytes, tmp_path: Path, plain: Report) -> None:
    lines = [*LOG[:200], damage + LOG[200], *LOG[201:]]
    report = report_of(written(tmp_path, joined(lines)))
    assert (report.requests, report.lines.malformed) == (plain.requests, 0)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("form", ["gzip", "zstd", "bzip2", "xz", "tar", "zip", "must-gather"])
def test_an_archive_that_breaks_off_is_named(form: str, share: float, tmp_path: Path) -> None:
    data = CARRIERS[form](LOG)
    report = report_of(written(tmp_path, data[: int(len(data) * share)]))
    assert any(file.problem for file in report.files)


@pytest.mark.parametrize("form", ["gzip", "zstd", "bzip2", "xz"])
def test_flipped_bytes_in_an_archive_are_named(form: str, tmp_path: Path) -> None:
    data = bytearray(CARRIERS[form](LOG))
    data[len(data) // 2 : len(data) // 2 + 60] = b"\xaa" * 60
    (file,) = report_of(written(tmp_path, bytes(data))).files
    assert file.problem


def test_a_wrong_checksum_in_a_zip_is_named(tmp_path: Path) -> None:
    data = bytearray(carriers.zip_of({"a.log": joined(LOG)}))
    checksum = data.rindex(b"PK\1\2") + 16  # in the directory at its end
    data[checksum] ^= 0xFF
    (file,) = report_of(written(tmp_path, bytes(data))).files
    assert "Bad CRC-32" in file.problem


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """A gigabyte of nothing in 100 kB."""
    compressor = zstandard.ZstdCompressor()
    bomb = compressor.compress(bytes(1 << 30))
    assert len(bomb) < 200_000
    report = report_of(written(tmp_path, bomb), written(tmp_path, joined(LOG), "b"))
    assert "decompression bomb" in report.files[0].problem
    assert report.lines.audit == 300


def test_a_bomb_in_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = gzip.compress(gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x")))))
    assert "packed more than 4 times" in report_of(written(tmp_path, bomb)).files[0].problem


def test_deep_json_is_malformed(tmp_path: Path) -> None:
    deep = [
        b'{"a":' * 5000,
        b"[" * 100_000,
        b'{"auditID":' + b"[" * 5000,
        b'{"log":"' + b'{\\"a\\":' * 3000 + b'"}',
    ]
    report = report_of(written(tmp_path, joined([*LOG, *deep])))
    assert report.lines.audit == 300
    assert report.lines.malformed + report.lines.skipped == 4 + 160


def test_a_pretty_document_of_any_size_is_read_in_little_memory() -> None:
    """Values of a document larger than LARGEST are given out one by one."""
    events = carriers.objects(LOG)
    for event in events:
        event["padding"] = "x" * 60_000
    data = json.dumps({"kind": "EventList", "nothing": {"a": ["b"]}, "items": events}, indent=1).encode()
    assert len(data) > 2 * LARGEST
    documents, found = Documents(), []
    for start in range(0, len(data), 100_001):
        found += documents.push(data[start : start + 100_001])
        assert len(documents._buffer) <= LARGEST + 200_000
    found += documents.finish()
    kept = [json.loads(value) for value in found if isinstance(value, bytes)]
    assert [value for value in kept if "auditID" in value] == events


VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.sampled_from(["}", "},{", '"}, {', "\\", "]{", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab}"), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.just("auditID"), VALUES, min_size=1), max_size=6), st.data())
def test_values_are_found_whole_whatever_is_in_them(values: list[object], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(["array", "pretty", "concatenated"]))
    indent = 1 if text == "pretty" else None
    document = (
        json.dumps(values, indent=indent) if text != "concatenated" else "".join(map(json.dumps, values))
    )
    encoded, documents, found = document.encode(), Documents(), []
    step = data.draw(st.integers(1, 40))
    for start in range(0, len(encoded), step):
        found += documents.push(encoded[start : start + step])
    found += documents.finish()
    assert [json.loads(value) for value in found if isinstance(value, bytes)] == values


def test_a_huge_event_in_a_document_is_read_from_its_two_ends() -> None:
    event = json.loads(audit_event(carriers.requests(1)[0], body='{"items":["' + "z" * (2 * LARGEST) + '"]}'))
    data = json.dumps([event, event], indent=1).encode()
    documents = Documents()
    found = [
        value
        for start in range(0, len(data), 1 << 20)
        for value in documents.push(data[start : start + (1 << 20)])
    ]
    assert [type(value) for value in found] == [LongLine, LongLine]


@pytest.mark.parametrize(("size", "kept"), [(LONGEST // 2, bytes), (3 * LONGEST, LongLine)])
def test_a_line_that_a_runtime_cut_and_that_never_ends_is_bounded(size: int, kept: type) -> None:
    event = audit_event(carriers.requests(1)[0], body='{"items":["' + "z" * size + '"]}')
    lines = carriers.cri_parts([event]).splitlines()
    records = [
        one for block in join_parts([lines]) for one in (block if isinstance(block, list) else [block])
    ]
    assert all(one.endswith(b"a message") for one in records[:-1] if isinstance(one, bytes))
    assert type(records[-1]) is kept
    assert [*join_parts([[lines[0]]])] == [[lines[0].replace(b" P ", b" F ")]]


def test_a_long_line_of_many_events_is_taken_apart(tmp_path: Path, plain: Report) -> None:
    events = carriers.objects(LOG)
    events[0]["padding"] = "x" * LONGEST
    line = compact({"kind": "EventList", "items": events})
    report = report_of(written(tmp_path, joined([LOG[0], line])))
    assert report.requests == plain.requests


def test_damage_inside_a_document_costs_one_value(tmp_path: Path) -> None:
    documents = [json.dumps(one, indent=2).encode() for one in carriers.objects(LOG)]
    documents[7] = documents[7][: len(documents[7]) // 2 + 3] + b'"unclosed'
    report = report_of(written(tmp_path, b"\n".join(documents)))
    assert report.lines.malformed >= 1
    assert report.lines.audit >= 298
