"""An etcd that is reached by TLS only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.etcd.certificates import Authority
from tests.etcd.members import cluster_of, server_flags


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def secured(authority: Authority, tmp_path: Path) -> AsyncIterator[str]:
    """The endpoint of an etcd that wants client certificates of the authority."""
    flags = server_flags(authority, authority.issue("server"))
    async with cluster_of(1, tmp_path, scheme="https", flags=flags) as (member,):
        yield member.endpoint
