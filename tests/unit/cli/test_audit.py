"""`ktui audit`, as a shell sees it."""

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ktui.audit.formats.log_record import LoggedRequest
from ktui.cli.main import main
from tests.http_server import TestServer
from tests.unit.audit.logs import audit_event, traffic
from tests.unit.traces.recorded import file

pytestmark = pytest.mark.slow

AT = 1_787_475_354_330_000
ESCAPES = "\x1b[31m\u202eevil|`<b>[red]\n"
SIZES = {"pods": {"count": 100_000, "bytes": 1_400_000_000}, "namespaces": {"count": 200, "bytes": 90_000}}


@cache
def _lines() -> bytes:
    return b"\n".join(islice(traffic(1), 4000)) + b"\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    path.write_bytes(_lines())
    return path


@pytest.fixture
def audit(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*args: object) -> tuple[int, str, str]:
        status = main(["audit", *map(str, args)])
        return status, *capsys.readouterr()

    return run


def document(audit: Any, *args: object) -> Any:
    status, out, err = audit(*args, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_the_document_has_what_its_page_says(audit: Any, log: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "audit.md").read_text()
    doc = document(audit, log, "--kube-version", "1.30")
    parts = (doc, doc["groups"][0], doc["etcd"][0], doc["lines"], doc["others"], doc["versions"][0])
    for part in (*parts, doc["files"][0]):
        missing = [name for name in part if f'"{name}"' not in page]
        assert missing == []
    assert doc["summary"].startswith("1.30 → 1.31 moves ")
    assert doc["lines"]["total"] == 4000
    assert doc["groups"][0]["rank"] == 1


@pytest.mark.parametrize("form", ["--json", "--markdown"])
def test_a_reader_that_has_had_enough_is_no_error(log: Path, form: str) -> None:
    command = [sys.executable, "-m", "ktui", "audit", str(log), form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_files_plain_zipped_and_piped_say_the_same(audit: Any, log: Path) -> None:
    zipped = log.with_suffix(".renamed")
    zipped.write_bytes(gzip.compress(log.read_bytes()))
    plain = document(audit, log)
    piped = subprocess.run(
        [sys.executable, "-m", "ktui", "audit", "-", "--json"],
        input=log.read_bytes(), capture_output=True, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert piped.stderr == b""
    for other in (document(audit, zipped), json.loads(piped.stdout)):
        for key in ("groups", "etcd", "versions", "lines"):
            assert other[key] == plain[key]


def test_several_files_are_one_log(audit: Any, log: Path) -> None:
    doc = document(audit, log, log)
    assert [file["lines"] for file in doc["files"]] == [4000, 4000]
    assert doc["lines"]["total"] == 8000


def test_a_truncated_file_is_a_problem_and_no_failure(audit: Any, log: Path) -> None:
    log.write_bytes(gzip.compress(log.read_bytes())[:-2000])
    doc = document(audit, log)
    assert "breaks off" in doc["files"][0]["problem"]
    assert doc["requests"]["list"] > 0
    status, out, _ = audit(log)
    assert status == 0
    assert "breaks off" in out


def test_top_bounds_what_is_shown(audit: Any, log: Path) -> None:
    doc = document(audit, log, "--top", "3")
    assert len(doc["groups"]) == 3 < doc["groups_total"]


def test_sizes_rank_by_bytes(audit: Any, log: Path, tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.json"
    sizes.write_text(json.dumps(SIZES))
    doc = document(audit, log, "--sizes", sizes, "--kube-version", "1.30")
    assert (doc["ranked_by"], doc["sizes_from"]) == ("estimated bytes", str(sizes))
    first = doc["groups"][0]["estimated"]
    assert first["etcd_bytes_each"] == 1_400_000_000
    assert document(audit, log)["ranked_by"] == "count × latency"


class _Prefixes(BaseHTTPRequestHandler):
    """`GET /ktui/v1/etcd/prefixes` of a server with two levels."""

    def do_GET(self) -> None:
        deep = [["/registry/services/specs/", "services", 7, 700, True]]
        top = [
            ["/registry/pods/", "pods", 2000, 28_000_000, True],
            ["/registry/services/", "", 7, 700, False],
        ]
        rows = deep if "prefix=" in self.path else top
        names = ("prefix", "resource", "count", "bytes", "leaf")
        body = json.dumps({"revision": 7, "children": [dict(zip(names, row, strict=True)) for row in rows]})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_request(self, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    with TestServer(("127.0.0.1", 0), _Prefixes) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_an_attached_server_gives_sizes(
    audit: Any, log: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log.write_bytes(audit_event(LoggedRequest("list", "/api/v1/services", "a/1", "u", AT, 5, 200)))
    doc = document(audit, log, "--attach", server, "--kube-version", "1.30")
    assert doc["sizes_from"] == f"the ktui server at {server}"
    assert doc["groups"][0]["estimated"]["etcd_bytes"] == 700


def test_no_attach_is_still_taken(audit: Any, log: Path) -> None:
    assert document(audit, log, "--no-attach") == document(audit, log)


def test_a_server_that_is_not_there(
    audit: Any, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    status, out, err = audit(log, "--attach", "http://127.0.0.1:9")
    assert (status, out) == (3, "")
    assert "no server answers" in err


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["/no/such/file"], "cannot read /no/such/file: No such file"),
        (["/proc/self/task/nothing"], "cannot read"),
        (["/no/such/*.log"], "no file matches"),
        ([], "name a log FILE"),
        (["LOG", "--listen", "nowhere", "--json"], "takes HOST:PORT"),
        (["--listen", "0.0.0.0:0", "--json"], "--tls-cert"),
        (["-", "--follow", "--json"], "takes files"),
        (["LOG", "--kube-version", "1.99"], "unknown Kubernetes version"),
        (["LOG", "--feature-gates", "Nonsense=true"], "unknown feature gate"),
        (["LOG", "--etcd-version", "new"], "not an etcd version"),
        (["LOG", "--sizes", "LOG"], "is not JSON like"),
        (["LOG", "--sizes", "/no/sizes"], "cannot read /no/sizes"),
    ],
)
def test_usage_errors_are_one_sentence(audit: Any, log: Path, args: list[str], text: str) -> None:
    status, out, err = audit(*(str(log) if arg == "LOG" else arg for arg in args))
    assert (status, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("args", [["x", "--top", "0"], ["x", "--json", "--markdown"]])
def test_usage_that_argparse_refuses(audit: Any, args: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        audit(*args)
    assert ended.value.code == 2


def evil(path: Path) -> Path:
    uri, agent = f"/api/v1/pods?labelSelector=a&{ESCAPES}=1", ESCAPES.strip() + "/1"
    request = LoggedRequest("list", uri, agent, ESCAPES, AT, 5, 200)
    path.write_bytes(audit_event(request) + b"\n" + ESCAPES.encode())
    return path


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--json"]])
def test_what_stands_in_a_log_never_steers_the_terminal(audit: Any, tmp_path: Path, form: list[str]) -> None:
    _, out, _ = audit(evil(tmp_path / "e.log"), *form)
    assert "evil" in out
    assert not any(char in out for char in "\x1b\u202e\r\x00")


def test_what_stands_in_a_log_is_no_markdown(audit: Any, tmp_path: Path) -> None:
    _, out, _ = audit(evil(tmp_path / "e.log"), "--markdown")
    assert "<b>" not in out
    (row,) = (line for line in out.splitlines() if line.startswith("| 1 |"))
    assert row.replace("\\|", "").count("|") == 14


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_table_fits_the_terminal(
    audit: Any, log: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = audit(log, "--kube-version", "1.30")
    lines = out.splitlines()
    assert lines[0].startswith("1.30 → 1.31 moves")
    assert max(map(len, lines)) <= width
    assert any("nightly" in line for line in lines)
    assert any(line.endswith("later") for line in map(str.rstrip, lines)) == (width >= 120)


def test_an_audit_loads_no_screen_and_no_server(log: Path) -> None:
    code = (
        "import sys; from ktui.cli.main import main; main(['audit', sys.argv[1], '--json']);"
        "print([m for m in ('textual', 'grpc', 'granian') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(log)], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stderr == "[]\n"


def test_help_has_examples(audit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--html"]])
def test_a_version_under_which_no_route_is_known(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """klog's traces have no query strings, and before 1.31 those decide where their LISTs are served from."""
    log = file("1.36-default", "apiserver.log.gz")
    assert main(["audit", "--kube-version", "1.30", *form, log]) == 0
    words = capsys.readouterr().out.replace("|", " ").split()
    cells = [*zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)]
    assert (("1.30", "not", "known", "not", "known") in cells) == (form != ["--html"]), "there it has no row"
