"""Generate malformed requests from a seed."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

NAMESPACE = "/api/v1/namespaces/default"
MAPS, PODS = f"{NAMESPACE}/configmaps", f"{NAMESPACE}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.io/v1/namespaces/default/widgets"
COLLECTIONS = (
    MAPS,
    PODS,
    DEPLOYMENTS,
    CRDS,
    WIDGETS,
    "/api/v1/nodes",
    "/api/v1/namespaces",
    f"{NAMESPACE}/events",
)
SUBRESOURCES = ("", "", "", "/status", "/scale", "/binding", "/eviction", "/finalize", "/nothing")
MEDIA_TYPES = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/plain",
)
YAML_TYPES = ("application/yaml", "application/apply-patch+yaml")
PATCH_TYPES = MEDIA_TYPES[3:7]
VALID = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "x", "labels": {"a": "b"}, "annotations": {"n": "1"}, "finalizers": []},
    "data": {"k": "v", "w": "x"},
    "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}], "replicas": 3},
}
STRANGE = (
    "\0",
    "\x1b]52;c;AA\x07",
    "\u202e",
    "\ud800",
    "../..",
    "%",
    "'",
    '"',
    "<script>",
    "a" * 300,
    "",
    "-",
    "𝕏",
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `label` is its kind; `raw`, if not empty, is sent instead of everything else."""

    label: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    raw: bytes = b""


class Generator:
    """Generates the same requests for the same seed. `large` is the share of bodies of megabytes."""

    def __init__(self, seed: int, large: float) -> None:
        self._random = random.Random(seed)
        self._large = large

    def next(self) -> Request:
        choose: Callable[[], Request] = self._random.choices(
            (self._body, self._query, self._path, self._header, self._raw), (70, 12, 8, 7, 3)
        )[0]
        return choose()

    # Bodies.

    def _body(self) -> Request:
        pick = self._random
        method = pick.choice(("POST", "POST", "PUT", "PATCH", "PATCH", "DELETE"))
        media_type = pick.choice(PATCH_TYPES if method == "PATCH" and pick.random() < 0.9 else MEDIA_TYPES)
        label, body = pick.choice(self._bodies())(media_type in YAML_TYPES)
        target = self._target(named=method != "POST")
        query = (
            f"?fieldManager=m{pick.choice(('', '&force=true', '&dryRun=All'))}" if method == "PATCH" else ""
        )
        if pick.random() < 0.03:
            method, target, query, media_type = "PUT", "/ktui/v1/behaviour", "", "application/json"
        return Request(f"body: {label}", method, target + query, (("Content-Type", media_type),), body)

    def _bodies(self) -> tuple[Callable[[bool], tuple[str, bytes]], ...]:
        return (
            self._deep,
            self._deep,
            self._mutated,
            self._mutated,
            self._wide,
            self._aliases,
            self._mistyped,
            self._noise,
        )

    def _size(self, small: int) -> int:
        """Return a size, mostly up to `small`, sometimes near the limit of a body or beyond it."""
        if self._random.random() < self._large:
            return self._random.choice((300_000, 1_000_000, 2_900_000, 3_200_000))
        return int(small ** self._random.random()) + 1

    def _deep(self, yaml: bool) -> tuple[str, bytes]:
        opening, closing = self._random.choice(
            ((b"- ", b""), (b"? ", b""), (b"[", b"]"), (b"{a: ", b"}"), (b"[{a: [", b"]}]"))
            if yaml
            else ((b"[", b"]"), (b'{"a":', b"}"), (b'{"spec":[', b"]}"), (b"{", b""))
        )
        times = self._size(60_000) // len(opening)
        inside = self._random.choice((b"", b"1", b"null"))
        ending = closing * times if self._random.random() < 0.5 else b""
        lead = self._random.choice((b"", b'{"metadata": ' if not yaml else b"metadata: "))
        return "deep", lead + opening * times + inside + ending

    def _wide(self, yaml: bool) -> tuple[str, bytes]:
        count = self._size(20_000) // 8 + 1
        pick = self._random.randrange(4)
        if yaml:
            unit = (b"k%d: v%d\n", b"- %d %d\n", b"k%d: [%d, {}]\n", b"%%TAG !t%d! tag:x%d\n")[pick]
            return "wide", b"".join(unit % (i, i) for i in range(count))
        unit = (b'"k%d":"v%d",', b'"k%d":[%d],', b'"k%d":{"a":%d},', b'"k%d":{"k":1,"k":%d},')[pick]
        lead = b'{"metadata":{"name":"w"},"%s":{' % self._random.choice((b"data", b"spec", b"x"))
        return "wide", lead + b"".join(unit % (i, i) for i in range(count)).rstrip(b",") + b"}}"

    def _aliases(self, yaml: bool) -> tuple[str, bytes]:
        wide = self._random.randint(1, 12)
        lines = [b"a0: &a0 {x: y, z: [1, 2]}"]
        for i in range(1, self._random.randint(2, 60)):
            uses = b", ".join([b"*a%d" % (i - 1)] * wide)
            merge = self._random.random() < 0.3
            lines.append(b"a%d: &a%d %s" % (i, i, b"{<<: [%s]}" % uses if merge else b"[%s]" % uses))
        return "aliases", b"\n".join(lines)

    def _mutated(self, yaml: bool) -> tuple[str, bytes]:
        body = bytearray(json.dumps(VALID).encode() * self._random.choice((1, 1, 1, 2)))
        for _ in range(self._random.randint(1, 8)):
            at = self._random.randrange(len(body))
            change = self._random.randrange(4)
            if change == 0:
                body[at] = self._random.randrange(256)
            elif change == 1:
                del body[at : at + self._random.randint(1, 20)]
            elif change == 2:
                body[at:at] = self._random.choice(
                    (b"\0", b"\xff", b"{", b"]", b"&a ", b"*a", b"!!binary ", b"1e999")
                )
            else:
                body[at:at] = body[: self._random.randint(1, 30)]
            if not body:
                break
        return "mutated", bytes(body)

    def _mistyped(self, yaml: bool) -> tuple[str, bytes]:
        document = json.loads(json.dumps(VALID))
        for _ in range(self._random.randint(1, 4)):
            self._spoil(document)
        if self._random.random() < 0.2:
            document = [{"op": "copy", "path": "/a", "from": "/metadata"}] * min(self._size(3000), 20_000)
        return "mistyped", json.dumps(document).encode("utf-8", "surrogatepass")

    def _spoil(self, document: dict[str, object]) -> None:
        """Replace a random member, or add one."""
        while True:
            key = self._random.choice(list(document) or ["metadata"])
            inner = document.get(key)
            if isinstance(inner, dict) and inner and self._random.random() < 0.7:
                document = inner
                continue
            text = self._random.choice(STRANGE)
            values: list[object] = [
                None,
                5,
                -1,
                1e308,
                2**70,
                True,
                [],
                {},
                [[]],
                [None],
                {"": None},
                text,
                {text: text},
            ]
            document[self._random.choice((key, text))] = self._random.choice(values)
            return

    def _noise(self, yaml: bool) -> tuple[str, bytes]:
        return "noise", self._random.choice(
            (b"", b"k8s\0", b"\xff\xfe", b"{", b"--- \n...\n---\n")
        ) + self._random.randbytes(self._size(5000))

    # Everything else.

    def _target(self, *, named: bool) -> str:
        collection = self._random.choice(COLLECTIONS)
        if not named and self._random.random() < 0.8:
            return collection
        return f"{collection}/{self._random.choice('xyzw')}{self._random.choice(SUBRESOURCES)}"

    def _text(self) -> str:
        if self._random.random() < 0.3:
            return "".join(self._random.choices(string.printable, k=int(2000 ** self._random.random())))
        return self._random.choice(STRANGE) * self._random.choice((1, 1, 2, 50))

    def _query(self) -> Request:
        pick = self._random
        token = base64.urlsafe_b64encode(
            pick.choice(
                (b"[" * 3000, b'{"v":"meta.k8s.io/v1","rv":-5}', self._text().encode("utf-8", "replace"))
            )
        )
        parameters = {
            "dryRun": self._text(),
            "fieldManager": self._text(),
            "fieldValidation": self._text(),
            "limit": pick.choice(("-1", "abc", "9" * 40, "0")),
            "continue": token.decode(),
            "labelSelector": pick.choice(
                (self._text(), ",".join(f"a{i} in (b,c)" for i in range(500)), "!" * 99, "(" * 3000)
            ),
            "fieldSelector": pick.choice((self._text(), "metadata.name=" * 200)),
            "resourceVersion": pick.choice(("-1", "x", "9" * 30, "0", "1")),
            "resourceVersionMatch": self._text(),
            "timeout": pick.choice(("1h", "-5s", "x", "9" * 99)),
            "timeoutSeconds": "1",
            "pretty": self._text(),
            "watch": pick.choice(("0", "false", "FALSE")),
            "includeObject": self._text(),
            "gracePeriodSeconds": pick.choice(("x", "-1", "9" * 30)),
        }
        chosen = pick.sample(sorted(parameters), pick.randint(1, 4))
        query = "&".join(f"{name}={quote(parameters[name].encode('utf-8', 'replace'))}" for name in chosen)
        method = pick.choice(("GET", "GET", "GET", "DELETE", "POST"))
        headers = (("Content-Type", "application/json"),)
        return Request("query", method, f"{self._target(named=method == 'DELETE')}?{query}", headers)

    def _path(self) -> Request:
        pick = self._random
        parts = [quote(self._text().encode("utf-8", "replace"), safe="/") for _ in range(pick.randint(1, 6))]
        base = pick.choice(
            ("/", "/api/v1/", "/apis/", f"{MAPS}/", "/ktui/v1/", "/ktui/v1/etcd/key?key=", "/openapi/v3/")
        )
        method = pick.choice(
            ("GET", "HEAD", "POST", "OPTIONS", "".join(pick.choices(string.ascii_uppercase, k=6)))
        )
        return Request("path", method, (base + "/".join(parts))[:60_000])

    def _header(self) -> Request:
        pick = self._random
        value = "".join(c for c in self._text() if 32 <= ord(c) < 127)
        name = pick.choice(
            ("Accept", "Content-Type", "User-Agent", "Accept-Encoding", "Authorization", "Audit-ID", "X-Odd")
        )
        return Request(
            "header",
            pick.choice(("GET", "POST")),
            self._target(named=False),
            ((name, value),) * pick.choice((1, 20)),
        )

    def _raw(self) -> Request:
        pick = self._random
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/yaml\r\n" % MAPS.encode()
        raw = pick.choice(
            (
                b"GET\r\n\r\n",
                b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
                head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
                head + b"Content-Length: 100\r\n\r\nshort",
                head + b"Content-Length: -1\r\n\r\n",
                pick.randbytes(200) + b"\r\n\r\n",
            )
        )
        return Request("raw", "RAW", "", raw=raw)
