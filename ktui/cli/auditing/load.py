"""`ktui audit --emit loadprofile`: the observed load as a LoadProfile of kperf, in YAML."""

from __future__ import annotations

import yaml

from ktui.audit.loadprofile import load_profile
from ktui.audit.report import Report
from ktui.cli.output import emit, warn
from ktui.core.format import integer


def print_load(report: Report) -> None:
    """Print the LoadProfile on standard output, and the number of omitted requests on standard error."""
    document, left_out = load_profile(report)
    emit(yaml.safe_dump(document, sort_keys=False, allow_unicode=False).removesuffix("\n"))
    if left_out:
        warn(
            f"{integer(left_out)} requests are left out, for which a LoadProfile has no form: WATCHes, later "
            "pages, LISTs at a revision, and requests whose query string was not logged"
        )
