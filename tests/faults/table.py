"""How many damages were reported, where, and with which code."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from faults.judge import Outcome, Verdict


@dataclass(slots=True)
class Tally:
    """The outcomes of one kind of damage, or of several."""

    outcomes: list[Outcome] = field(default_factory=list)

    def count(self, verdict: Verdict) -> int:
        """How many came out so."""
        return sum(one.verdict is verdict for one in self.outcomes)

    @property
    def found(self) -> float:
        """The part of which anything was reported."""
        return 1 - self.count(Verdict.MISSED) / max(1, len(self.outcomes))

    @property
    def right(self) -> float:
        """The part that was reported on the right line with the right code."""
        return self.count(Verdict.RIGHT) / max(1, len(self.outcomes))

    @property
    def echoes(self) -> float:
        """Findings on lines that nothing was done to, for each damage."""
        return sum(one.echoes for one in self.outcomes) / max(1, len(self.outcomes))

    @property
    def failures(self) -> list[str]:
        """Rules that failed."""
        return [failure for one in self.outcomes for failure in one.failures]

    def cells(self) -> list[str]:
        """Return the cells of a row."""
        return [
            str(len(self.outcomes)),
            *(str(self.count(verdict) or "") for verdict in Verdict),
            f"{self.echoes:.2f}" if self.echoes else "",
        ]


def table(tallies: Sequence[Tally]) -> Table:
    """Return a table with a row for each kind of damage, and one for all."""
    made = Table("code", "kind", title="damages reported", box=None)
    for head in ("done", "right", "otherwise", "missed", "echoes"):
        made.add_column(head, justify="right")
    code = ""
    for tally in tallies:
        if tally.outcomes:
            one = tally.outcomes[0]
            style = "red" if tally.right < 0.95 or tally.found < 0.99 else ""
            shown = "" if one.code == code else one.code
            made.add_row(shown, one.name, *tally.cells(), style=style)
            code = one.code
    whole = Tally([one for tally in tallies for one in tally.outcomes])
    made.add_section()
    made.add_row("all", f"{whole.found:.1%} found, {whole.right:.1%} right", *whole.cells())
    return made


def worst(outcomes: Iterable[Outcome], most: int) -> list[Outcome]:
    """Return a few outcomes of each kind: missed ones first, then wrong reports and echoes."""
    bad = [
        one for one in outcomes if one.verdict is not Verdict.RIGHT or one.echoes or one.failures
    ]
    bad.sort(key=lambda one: (not one.failures, -list(Verdict).index(one.verdict), -one.echoes))
    seen: dict[tuple[str, str], int] = {}
    for one in bad:
        seen[one.code, one.name] = seen.get((one.code, one.name), 0)
    ranked = []
    for one in bad:
        seen[one.code, one.name] += 1
        ranked.append((seen[one.code, one.name], one))
    ranked.sort(key=lambda pair: pair[0])
    return [one for _, one in ranked[:most]]


def describe(outcome: Outcome) -> Text:
    """Return a description of the damage and of its findings."""
    lines = [
        *(f"FAILED: {failure}" for failure in outcome.failures),
        f"{outcome.verdict.value}: {outcome.code}, {outcome.name}",
        f"  {outcome.where}",
        f"  done: {outcome.done[:200]}",
        *(f"  reported: {str(reported)[:260]}" for reported in outcome.findings[:4]),
    ]
    if len(outcome.findings) > 4:
        lines.append(f"  and {len(outcome.findings) - 4} more")
    return Text("\n".join(lines))
