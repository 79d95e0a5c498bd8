"""Untrusted text in Markdown: tables of reports, budgets, benchmarks and the Lab."""

from __future__ import annotations

import re

from ktui.printable import escaped

# Characters with a meaning in some Markdown dialect (markup, links, mentions); all are escaped.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~@&$]")


def markdown_text(untrusted: str) -> str:
    """Return untrusted text on one line, escaped so that it is never markup."""
    return _SPECIAL.sub(r"\\\g<0>", escaped(untrusted))


def markdown_code(untrusted: str) -> str:
    """Return untrusted text as code in a cell of a table; backticks would end it."""
    return f"`{escaped(untrusted).replace('|', '%7C').replace('`', '%60')}`"


def markdown_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
