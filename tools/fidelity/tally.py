"""How many answers agree, by group and category, and what the others differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tools.fidelity.recordings import Count

SHOWN_DIFFERENCES = 5


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer that differs: which, and in what."""

    name: str
    request: str
    differences: list[str]

    def __str__(self) -> str:
        first = [f"    {text[:400]}" for text in self.differences[:SHOWN_DIFFERENCES]]
        return "\n".join([f"- {self.name}: {self.request[:300]}", *first])


@dataclass(slots=True)
class Tally:
    """The counts of one kind of comparison."""

    title: str
    agree: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    disagreements: list[Disagreement] = field(default_factory=list)

    def add(self, category: str, name: str, request: str, differences: Iterable[object]) -> None:
        """Count an answer; without differences it agrees."""
        texts = [str(one) for one in differences]
        self.total[category] += 1
        self.agree[category] += not texts
        if texts:
            self.disagreements.append(Disagreement(name, request, texts))

    @property
    def count(self) -> Count:
        return self.agree.total(), self.total.total()

    def document(self) -> dict[str, Any]:
        """Return what `--json` writes."""
        agree, total = self.count
        return {
            "title": self.title,
            "agree": agree,
            "total": total,
            "categories": {name: [self.agree[name], self.total[name]] for name in sorted(self.total)},
            "disagreements": [
                {"name": one.name, "request": one.request, "differences": one.differences}
                for one in self.disagreements
            ],
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tally beside the documented count; `sampled`: only a part was sent, so that only shares compare."""

    tally: Tally
    documented: Count | None = None
    sampled: bool = False

    @property
    def reached(self) -> bool:
        """Whether at least as many agree as documented; of a sample, at least the documented share."""
        agree, total = self.tally.count
        if self.documented is None:
            return agree == total
        wanted, of = self.documented
        return agree * of >= wanted * total if self.sampled else agree >= wanted and total >= of

    def __str__(self) -> str:
        agree, total = self.tally.count
        share = 100 * agree / total if total else 0.0
        text = f"{self.tally.title:52} {agree:>6,} of {total:>6,}  {share:5.1f} %"
        if self.documented is not None:
            text += "   documented: {:,} of {:,}".format(*self.documented)
        return text + ("" if self.reached else "   BELOW")
