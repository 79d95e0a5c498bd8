"""/version, as kube-apiserver answers it."""

from __future__ import annotations

import platform

from ktui import __version__
from ktui.kube.versions import Behaviour


def version_document(behaviour: Behaviour) -> dict[str, str]:
    """Return the Kubernetes version whose rules apply; ktui's own version follows the plus."""
    return {
        "major": "1",
        "minor": str(behaviour.minor),
        "gitVersion": f"v1.{behaviour.minor}.{behaviour.patch or 0}+ktui-{__version__}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",  # upstream's for a build that sets none
        "goVersion": "",
        "compiler": f"python {platform.python_version()}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
