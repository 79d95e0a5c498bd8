"""The counts of one log: its records by kind, and its problem."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ktui.audit.formats.record import EARLY, JSON, KLOG, WRITES
from ktui.core.format import integer

_ADMIN = "kube-audit-admin"


@dataclass(slots=True)
class FileCount:
    """One log. `lines` is its number of records: lines, JSON values or CSV rows.

    `argument` is what named it on the command line. `problem` says how it broke off. `read` is the number
    of records about a request, `skipped` that of other valid records by kind. `part`: another process read
    the previous records of this file.
    """

    name: str
    argument: str = ""
    lines: int = 0
    problem: str = ""
    read: int = 0
    malformed: int = 0
    admin: bool = False
    skipped: dict[str, int] = field(default_factory=Counter)
    part: bool = False

    def extend(self, other: FileCount) -> None:
        """Add the counts of another process for the same file."""
        self.lines += other.lines
        self.read += other.read
        self.malformed += other.malformed
        self.admin = self.admin or other.admin
        self.problem = self.problem or other.problem
        for what, count in other.skipped.items():
            self.skipped[what] = self.skipped.get(what, 0) + count

    @property
    def why_nothing(self) -> str:
        """Why no request was found in the log; "" if one was."""
        if self.read or self.problem:
            return "" if self.read else self.problem
        if not self.lines:
            return "it is empty"
        skipped = Counter(self.skipped)
        if skipped[WRITES.what] and self.admin:
            return f"{_ADMIN} leaves out get and list requests: enable the category kube-audit instead"
        if skipped[WRITES.what] and not self.malformed:
            return (
                f"{integer(skipped[WRITES.what])} audit Events, all of writes: an audit policy (or a log "
                "category such as GKE's activity) leaves out reads"
            )
        parts = [f"{integer(count)} {what}" for what, count in skipped.most_common() if count]
        parts += [f"{integer(self.malformed)} malformed records"] if self.malformed else []
        return f"no request in it: {', '.join(parts) or 'no record'}{_HINTS.get(self._mostly, '')}"

    @property
    def _mostly(self) -> str:
        return max(self.skipped, key=self.skipped.__getitem__, default="")


_HINTS = {
    KLOG.what: " (kube-apiserver logs requests from -v=3 on)",
    JSON.what: " (looked for an audit Event, a LogEntry of GKE or an httplog line up to three fields deep)",
    EARLY.what: " (the audit policy leaves out the stage ResponseComplete)",
}
