"""Remove names, addresses and tokens from free text."""

from __future__ import annotations

import re

from ktui.core.sharing.keys import KeyPseudonyms
from ktui.core.sharing.names import Pseudonyms

_TOKEN = re.compile(r"\beyJ[\w-]{5,}\.[\w.-]+|\b[Bb]earer\s+\S+|\b(?=\w*\d)(?=\w*[A-Za-z])[\w+-]{32,}={0,2}")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+"  # a URL
    r"|\[[0-9A-Fa-f:.]+\](?::\d+)?|(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){2,7}[0-9A-Fa-f:.]{1,}"  # IPv6
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # IPv4
    r"|\b[\w-]+(?:\.[\w-]+)*:\d{2,5}\b"  # host:port
    r"|\blookup [\w.-]+"
    r"|\b(?![\w.-]*\.(?:k8s|cilium)\.io\b)[A-Za-z][\w-]*(?:\.[\w-]+)+\.[A-Za-z]{2,}\b"  # a host
)
_USER = re.compile(r"[\w.+-]+@[\w.-]+|\bsystem:serviceaccount:[\w.:-]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|`([^`]*)`')
_PATH = re.compile(r"(?<![\w.<])/[\w.@+~-]+(?:/[\w.@+~-]*)*")
_SECRETS = re.compile(r'\b(secrets? )"([^"]+)"')


class Text:
    """Scrubs free text: first what looks like a secret or an address, then names replaced elsewhere."""

    def __init__(self, names: Pseudonyms, keys: KeyPseudonyms) -> None:
        self._names = names
        self._keys = keys

    def scrub(self, text: str) -> str:
        if not text:
            return text
        text = _ADDRESS.sub("<address>", text)
        text = _USER.sub("<user>", text)
        text = _SECRETS.sub(lambda found: f'{found[1]}"{self._names.name(found[2], secret=True)}"', text)
        text = _PATH.sub(self._path, text)
        text = _TOKEN.sub("<token>", text)
        text = _QUOTED.sub(self._quoted, text)
        return self._names.in_text(text)

    def _path(self, found: re.Match[str]) -> str:
        path = found[0]
        if path.startswith(("/api/", "/apis/")):
            return self._keys.path(path)
        return self._keys.key(path) if path.startswith(self._keys.prefix + "/") else "<path>"

    def _quoted(self, found: re.Match[str]) -> str:
        sign, text = found[0][0], next(group for group in found.groups() if group is not None)
        kept = text.startswith("/") or text[:1] == "<"  # already replaced
        return f"{sign}{text if kept else self._names.name(text)}{sign}"
