"""The file of `--tracing-config-file`: a TracingConfiguration, as kube-apiserver reads it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1alpha1", "v1beta1", "v1"))


class TracingConfig(NamedTuple):
    """Where spans are sent, and for how many requests of a million."""

    endpoint: str
    rate: int


def read_tracing_config(path: Path) -> TracingConfig:
    """Parse a TracingConfiguration. Raises ValueError."""
    import yaml  # start-up time

    try:
        document = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"--tracing-config-file {path} cannot be read: {error}") from None
    if (
        not isinstance(document, dict)
        or document.get("kind") != "TracingConfiguration"
        or document.get("apiVersion") not in _VERSIONS
    ):
        raise ValueError(f"{path} is not a TracingConfiguration of {_VERSIONS[1]}")
    if unknown := document.keys() - {"kind", "apiVersion", "endpoint", "samplingRatePerMillion"}:
        raise ValueError(f"{path}: unknown field {sorted(map(str, unknown))[0]!r}")
    endpoint, rate = document.get("endpoint") or "localhost:4317", document.get("samplingRatePerMillion") or 0
    if not isinstance(endpoint, str) or urlsplit(f"//{endpoint}").hostname is None:
        raise ValueError(f"{path}: endpoint is HOST:PORT")
    if not isinstance(rate, int) or isinstance(rate, bool) or not 0 <= rate <= 1_000_000:
        raise ValueError(f"{path}: samplingRatePerMillion is a number from 0 to 1000000")
    return TracingConfig(endpoint, rate)
