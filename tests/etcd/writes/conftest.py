"""The server of the apiserver tests: the write path is tested over real HTTP as well."""

from tests.etcd.apiserver.conftest import api, shared_api, widgets

__all__ = ["api", "shared_api", "widgets"]
