"""The pages that key `y` shows for a Lab result: the result as JSON, and its request as code."""

from __future__ import annotations

import msgspec

from ktui.core.lab.result import LabResult
from ktui.core.snippets import as_client_go, as_curl, as_kubectl, as_python, client_go_note
from ktui.kube.resources import Resource


def result_pages(result: LabResult, resource: Resource | None) -> dict[str, str]:
    """Return the pages by title, the result first. `resource` None: without client-go and Python."""
    pages = {
        "result": msgspec.json.format(msgspec.json.encode(result_document(result)), indent=2).decode(),
        "curl": as_curl(result.path, result.form),
        "kubectl": as_kubectl(result.path),
    }
    if resource is not None:
        paged = result.measured is not None and result.measured.pages > 1
        note = client_go_note(result.form, resource)
        pages["client-go"] = note + as_client_go(result.form, resource, all_pages=paged)
        pages["Python"] = as_python(result.form, resource)
    return pages


def result_document(result: LabResult) -> dict[str, object]:
    """Return all details of one result as a JSON object."""
    measured = result.measured
    return {
        "number": result.number,
        "variant": result.label,
        "server": result.server or "ktui",
        "accept": result.form.accept_header,
        **({"error": result.error} if result.error else {}),
        "predicted": [
            {
                "figure": each.name,
                "predicted": each.predicted,
                "measured": each.measured,
                "verdict": each.verdict,
            }
            for each in result.comparisons
        ],
        **(measured.document() if measured is not None else {"path": result.path}),
    }
