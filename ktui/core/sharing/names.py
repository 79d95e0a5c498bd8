"""Pseudonyms: a name has the same pseudonym everywhere in one copy, and another one in every other copy."""

from __future__ import annotations

import hashlib
import re


def words(text: str) -> frozenset[str]:
    """Return the words of `text` as a set."""
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
