"""The option `--etcd-version` of commands that predict without an etcd."""

from __future__ import annotations

import argparse


def add_etcd_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--etcd-version", metavar="V", help="does this etcd support progress requests? (default: it does)"
    )


def supports_progress(args: argparse.Namespace) -> bool:
    """Return whether that etcd supports progress requests. Raises ConfigError for an invalid version."""
    from ktui.config.errors import ConfigError  # start-up time
    from ktui.kube.routing.cache_state import etcd_supports_progress, is_etcd_version

    version: str | None = args.etcd_version
    if version is None:
        return True
    if not is_etcd_version(version):
        raise ConfigError(f"{version!r} is not an etcd version: write it like 3.5.13")
    return etcd_supports_progress(version)
