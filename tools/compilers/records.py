"""The facts about the dumps of one release and backend, stored beside their folder."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

_MIN_REPRODUCED = 0.95
_MIN_FROM_TEXT = 0.75  # dumps for GPUs have no module.mlir, whose conversion decides ties
COMPARISONS = ("sizes", "uses", "totals", "peaks", "parser")


@dataclass
class Count:
    """The numbers of compared facts; ``unknown`` are those that one side does not know."""

    agree: int = 0
    differ: int = 0
    unknown: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.agree + other.agree, self.differ + other.differ, self.unknown + other.unknown
        )


@dataclass
class Record:
    """The facts about one dump folder, stored beside it as ``FOLDER.json``.

    Attributes:
        compiler: The package that compiles, with its version.
        programs: An error message (or nothing) for each program.
        problem: Why there are no dumps.
        memory: The numbers of ``memory_analysis()`` by buffer assignment file.
        differences: A description of the first differences.
        oracles: The result of ``tests/oracles``.
        recompiled: How each program differs when it is compiled again, empty if it does not.
    """

    version: str
    backend: str
    python: str = ""
    compiler: str = ""
    programs: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    memory: dict[str, dict[str, int]] = field(default_factory=dict)
    compiles: int = 0
    files: int = 0
    errors: int | None = None
    warnings: int | None = None
    counts: dict[str, Count] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    oracles: str = ""
    recompiled: dict[str, str] = field(default_factory=dict)

    @property
    def compiled(self) -> int:
        """Return the number of programs that compile."""
        return sum(not problem for problem in self.programs.values())

    @property
    def is_final(self) -> bool:
        """Return whether another attempt would have the same result."""
        return self.compiled > 0 or self.problem != ""

    @property
    def is_different(self) -> bool:
        """Return whether the dumps are missing, or anything in them differs from XLA's numbers."""
        differ = any(count.differ for count in self.counts.values())
        found = bool(self.errors or self.warnings)
        share = _MIN_FROM_TEXT if self.backend == "cuda" else _MIN_REPRODUCED
        failed = self.oracles not in {"", "pass"} or not is_reproduced(self.recompiled, share)
        return not self.compiled or differ or found or failed


def is_reproduced(recompiled: Mapping[str, str], share: float = _MIN_REPRODUCED) -> bool:
    """Return whether a compiler reproduces a share of the programs."""
    equal = sum(not difference for difference in recompiled.values())
    return equal >= share * len(recompiled)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, as a key for sorting."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def record_path(folder: Path) -> Path:
    """Return the path of the record of a dump folder."""
    return folder.with_name(f"{folder.name}.json")


def read_record(folder: Path) -> Record:
    """Return the record of a dump folder."""
    facts = json.loads(record_path(folder).read_text("utf-8"))
    counts = {name: Count(**count) for name, count in facts.pop("counts").items()}
    return Record(**facts, counts=counts)


def write_record(folder: Path, record: Record) -> None:
    """Store the record of a dump folder."""
    record_path(folder).write_text(json.dumps(asdict(record), indent=1) + "\n", "utf-8")


def recorded_folders(output: Path) -> list[Path]:
    """Return the folders of this and of earlier runs, also those in which nothing compiles."""
    return [path.with_name(path.name.removesuffix(".json")) for path in output.glob("*_jax_*.json")]


def dump_files(folder: Path) -> list[Path]:
    """Return all files of a dump folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def by_release(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Yield the records of each release, newest release first, once for each of its libtpus."""
    for version in sorted({one.version for one in records}, key=version_numbers, reverse=True):
        release = [one for one in records if one.version == version]
        others = [one for one in release if one.backend != "tpu"]
        tpus = [[one] for one in release if one.backend == "tpu"]
        for tpu in sorted(tpus, key=lambda one: version_numbers(one[0].compiler), reverse=True):
            yield [*others, *tpu]
        if not tpus:
            yield others
