"""Pseudonyms: a name has the same pseudonym everywhere in one copy, and another one in every other copy."""

from __future__ import annotations

import hashlib
import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Every cluster has these names, so they reveal nothing.
COMMON = words("default kube-system kube-public kube-node-lease kubernetes kube-root-ca.crt kube-dns coredns")
# Clients whose names are not specific to a customer.
CLIENTS = words(
    "kubectl kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy "
    "cloud-controller-manager ktui ktui-seed cilium-agent cilium-operator cilium-operator-generic "
    "hubble-relay calico-node coredns argocd "
    "argocd-application-controller flux helm-controller Helm helm prometheus Prometheus "
    "prometheus-operator kube-state-metrics metrics-server etcd curl python-httpx Go-http-client client-go "
    "cluster-autoscaler karpenter cert-manager ingress-nginx istiod k9s Lens headlamp OpenAPI-Generator "
    "node-agent legacy-agent cost-exporter event-exporter node-controller"
)
LEVELS = words("exempt system node-high leader-election workload-high workload-low global-default catch-all")
USERS = words(
    "admin anonymous kubernetes-admin system node serviceaccount kube-scheduler kube-controller-manager "
    "kube-proxy apiserver masters bootstrap"
)
_MEDIA = words(
    "*/* application/json application/yaml application/vnd.kubernetes.protobuf application/cbor text/plain "
    "as=Table as=PartialObjectMetadata as=PartialObjectMetadataList as=APIGroupDiscoveryList v=v1 v=v1beta1 "
    "v=v2 v=v2beta1 g=meta.k8s.io g=apidiscovery.k8s.io stream=watch q=0.9 q=0.8"
)
_WORD = re.compile(r"[A-Za-z0-9](?:[\w.\-]*\w)?")
_VERSION = re.compile(r"v?\d+(?:\.\d+){0,3}", re.ASCII)


class Pseudonyms:
    """Names and their pseudonyms. `hashing` False keeps the names, but never those of Secrets."""

    def __init__(self, secret: bytes, *, hashing: bool) -> None:
        self.hashing = hashing
        self._secret = secret
        self._words: dict[str, str] = {}  # all words replaced so far, for free text

    def name(self, name: str, *, secret: bool = False) -> str:
        """Return the pseudonym for a name. With `secret` (a Secret's name) also without `hashing`."""
        if not name or name in COMMON:
            return name
        if (known := self._words.get(name)) is not None:
            return known
        return self._replace(name, "s") if secret else self._replace(name, "n") if self.hashing else name

    def label(self, text: str) -> str:
        """Return the pseudonym for a label's value or a custom label's key."""
        return self._replace(text, "l") if self.hashing and text else text

    def hidden(self, text: str) -> str:
        """Return the replacement for a value that is always hidden."""
        return self._replace(text, "h") if text else text

    def client(self, agent: str) -> str:
        """Return a user agent's product and version, without host and system."""
        product, _, rest = agent.partition("/")
        product = product.split(" ")[0]
        version = _VERSION.match(rest)
        known = product if product in CLIENTS or not self.hashing else self._replace(product, "client-")
        known = known if _WORD.fullmatch(known) or not known else self._replace(product, "client-")
        return f"{known}/{version[0]}" if version is not None else known

    def user(self, user: str) -> str:
        """Return a user name with pseudonyms; `system:serviceaccount:NS:NAME` and others keep their form."""
        return ":".join(part if part in USERS else self.name(part) for part in user.split(":"))

    def level(self, level: str) -> str:
        return level if level in LEVELS else self.name(level)

    def peer(self, peer: str) -> str:
        """Hide the host of `host:port` in any mode; the port is kept to distinguish clients."""
        host, colon, port = peer.rpartition(":")
        return f"{self.hidden(host)}:{port}" if colon and port.isdigit() else self.hidden(peer)

    def accept(self, header: str) -> str:
        """Return an Accept header in which unknown media types and parameters are hidden."""
        return ",".join(
            ";".join(part if part in _MEDIA else self.hidden(part) for part in re.split(r"\s*;\s*", kind))
            for kind in re.split(r"\s*,\s*", header)
        )

    def in_text(self, text: str) -> str:
        """Replace every name in `text` that was replaced anywhere before."""
        return _WORD.sub(lambda word: self._words.get(word[0], word[0]), text)

    def _replace(self, text: str, sign: str) -> str:
        known = self._words.get(text)
        if known is None:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=5)
            known = self._words[text] = f"{sign}{digest.hexdigest()}"
        return known


STANDARD = "/registry"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUL = "\\000"
_BELOW = {"services": ("specs", "endpoints"), "ranges": ("serviceips", "servicenodeports")}
_ADDRESSED = ("masterleases", "peerserverleases", "ranges")  # keyed by addresses of apiservers
_SUBRESOURCES = words(
    "status scale log exec attach portforward proxy binding eviction ephemeralcontainers token approval "
    "finalize resize"
)
_ROOTS = words(
    "api apis version healthz readyz livez metrics openapi v2 v3 logs telemetry ktui v1 server settings etcd "
    "prefixes keys key history caches requests objects events warm check .well-known openid-configuration "
    "openid jwks ping"
)


def is_secret(resource: str) -> bool:
    """True if a resource's names are hidden in any mode."""
    return resource == "secrets"


class KeyPseudonyms:
    """Pseudonyms in etcd keys. The server's prefix is written as `/registry`, whatever it is."""

    def __init__(self, names: Pseudonyms) -> None:
        self._names = names
        self.prefix = STANDARD

    def request(self, text: str) -> str:
        """Replace the quoted keys in the text of an etcd call; a range end stays the end of its range."""
        before: tuple[str, str] = ("", "")

        def replaced(quoted: re.Match[str]) -> str:
            nonlocal before
            raw = quoted[1]
            whole, word = before
            end = self._end(whole, word) if whole and raw == self._end(whole, whole) else self.key(raw)
            before = (raw, end)
            return f'"{end}"'

        return _QUOTED.sub(replaced, text)

    @staticmethod
    def _end(whole: str, key: str) -> str:
        """Return the range end for the prefix `whole`, whose pseudonym is `key`; "" if it is no prefix."""
        return key[:-1] + "0" if whole.endswith("/") else ""

    def key(self, key: str) -> str:
        """Return a key with its resource, and with pseudonyms for namespaces and names."""
        if key.endswith(_NUL):
            return self.key(key[: -len(_NUL)]) + _NUL
        if key != self.prefix and not key.startswith(self.prefix + "/"):
            return "/".join(self._names.hidden(part) for part in key.split("/"))
        parts = key[len(self.prefix) :].strip("/").split("/")
        first = parts[0]
        grouped = "." in first or (len(parts) > 1 and parts[1].rstrip("0") in _BELOW.get(first, ()))
        kind, rest = (parts[:2], parts[2:]) if grouped else (parts[:1], parts[1:])
        if first in _ADDRESSED:
            names = [self._names.hidden(part) for part in rest]
        else:
            last = len(rest) - 1
            secret = is_secret(first) and last > 0
            names = [self._names.name(part, secret=secret and at == last) for at, part in enumerate(rest)]
        ends = "/" if key.endswith("/") and len(key) > 1 else ""
        return "/".join([STANDARD, *kind, *names]).rstrip("/") + ends

    def path(self, path: str) -> str:
        """Return a URL path with its version, resource and subresource, and with pseudonyms for names."""
        parts = path.split("/")
        if len(parts) > 2 and parts[1] in ("api", "apis"):
            first = 3 if parts[1] == "api" else 4
            return "/".join([*parts[:first], *self._objects(parts[first:])])
        return "/".join(part if part in _ROOTS or not part else self._names.hidden(part) for part in parts)

    def _objects(self, parts: list[str]) -> list[str]:
        """Replace the names after the version: `namespaces/NS/RESOURCE/NAME/SUBRESOURCE`, or less."""
        if parts and parts[0] == "watch":  # as was usual before ?watch=1
            return ["watch", *self._objects(parts[1:])]
        if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in ("status", "finalize"):
            return ["namespaces", self._names.name(parts[1]), *self._objects(parts[2:])]
        if len(parts) < 2:
            return parts
        resource, name, *rest = parts
        below = [part if part in _SUBRESOURCES else self._names.hidden(part) for part in rest]
        return [resource, self._names.name(name, secret=is_secret(resource)), *below]
