"""Changes by the passes of a compile, from the module texts that XLA dumps between passes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import count_noun, shortened
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.padded_sizes import logical_bytes
from hlo_lsp.model.sections import missing_part
from hlo_lsp.model.shape import arrays_of, try_shape
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json
from hlo_lsp.text.remote import shown

NO_PASS_TEXTS = "no module texts of several passes; dump them with --xla_dump_hlo_pass_re=.*"
_MAX_SHOWN = 100  # characters of a definition


@dataclass(frozen=True, slots=True)
class Definition:
    """An instruction as one module text defines it: what a pass can change."""

    shape: str
    opcode: str
    operands: tuple[str, ...]
    computation: str

    def __str__(self) -> str:
        return shortened(f"{self.shape} {self.opcode}({', '.join(self.operands)})", _MAX_SHOWN)


@dataclass(frozen=True, slots=True)
class Stage:
    """A module text, and what changed since the text before.

    Attributes:
        label: The pass after which XLA wrote the text, with its pipeline.
        path: The file.
        definitions: The instructions by name.
        bytes: Logical bytes of the results of the entry computation; None if one is unknown.
        created: Names that the text before does not have.
        removed: Names that only the text before has.
        changed: Names with another definition.
        change_bytes: Change of ``bytes``; None if one of them is unknown.
        missing_part: Why the text is only a part of the program, None if it is whole.
    """

    label: str
    path: Path
    definitions: Mapping[str, Definition]
    bytes: int | None
    missing_part: str | None = None
    created: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    change_bytes: int | None = 0

    @property
    def is_changed(self) -> bool:
        """True if the text differs from the one before."""
        return bool(self.created or self.removed or self.changed)


def stage_label(path: Path) -> str:
    """Return the pipeline and the pass of a file name, or what else the text is."""
    suffix = suffix_of(path.name)
    if suffix.role is not FileRole.PASS:
        role: str = suffix.role.value
        return role.replace("_", " ").replace("-", " ")
    _, _, step = suffix.text.removesuffix(".txt").split(".", 2)
    name = step.removeprefix("after_").partition(".before_")[0]
    return suffix.pipeline if name == "pipeline-start" else f"{suffix.pipeline} > {name}"


def stages_of(files: Iterable[DumpFile]) -> list[Stage]:
    """Return the stages of a compile from its module texts in pipeline order."""
    found: list[Stage] = []
    for file in files:
        if file.path is None or suffix_of(file.path.name).role is FileRole.AFTER_CODEGEN:
            continue
        new = _definitions(file)
        part = missing_part(file)
        size = _entry_bytes(file) if part is None else None
        stage = Stage(stage_label(file.path), file.path, new, size, part)
        if found:
            old = found[-1].definitions
            stage = replace(
                stage,
                created=tuple(name for name in new if name not in old),
                removed=tuple(name for name in old if name not in new),
                changed=tuple(name for name in new if name in old and old[name] != new[name]),
                change_bytes=_difference(stage.bytes, found[-1].bytes),
            )
        found.append(stage)
    return found


def _definitions(file: DumpFile) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for record in file.module.instructions.records():
        checkpoint()
        home = file.module.computation_of(record)
        name = "" if home is None else home.name
        found.setdefault(
            record.name, Definition(record.shape, record.opcode, record.operands, name)
        )
    return found


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _entry_bytes(file: DumpFile) -> int | None:
    """Return the logical bytes of all results, None if the size of one is unknown."""
    entry = file.module.entry
    members: tuple[InstructionLine, ...] = ()
    if entry is not None:
        members = file.module.computation(entry).members
    total = 0
    for member in members:
        shape = try_shape(member.shape)
        sizes = [logical_bytes(array) for array in arrays_of(shape)]
        known = [size for size in sizes if size is not None]
        if shape is None or len(known) < len(sizes):
            return None
        total += sum(known)
    return total


def events_of(stages: Sequence[Stage], name: str) -> Iterator[tuple[Stage, str]]:
    """Yield the stages that changed an instruction, each with what happened to it."""
    for number, stage in enumerate(stages):
        before = stages[number - 1].definitions.get(name) if number else None
        after = stage.definitions.get(name)
        if before == after:
            continue
        if after is None:
            yield stage, "removed"
        elif before is None:
            yield stage, f"{'created' if number else 'in the program'}: {after}"
        elif replace(before, computation=after.computation) == after:
            yield stage, f"moved from computation {before.computation} to {after.computation}"
        else:
            yield stage, f"changed: {before} -> {after}"


def history_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield a line for each text that differs from the one before."""
    for number, stage in enumerate(stages):
        count = count_noun(len(stage.definitions), "instruction")
        if stage.missing_part is not None:
            count += f" in a part of the program: {stage.missing_part}"
        if not number:
            yield f"{stage.label}: {count}"
        elif stage.is_changed:
            size = _size_change(stage.change_bytes)
            names = {"created": stage.created, "removed": stage.removed, "changed": stage.changed}
            changes = [f"{len(each):,} {verb}" for verb, each in names.items() if each]
            yield f"{stage.label}: {count}, {', '.join(changes)}{size}"


def _size_change(change: int | None) -> str:
    if change is None:
        return ", unknown change of the size of results"
    sign = "-" if change < 0 else "+"
    return f", {sign}{format_short_bytes(abs(change))} of results" if change else ""


def event_lines(stages: Sequence[Stage], name: str) -> Iterator[str]:
    """Yield a line for each stage that changed an instruction."""
    for stage, event in events_of(stages, name):
        yield f"{stage.label}: {event}"


def history_json(stages: Sequence[Stage], name: str | None) -> Json:
    """Return the stages, or what happened to an instruction, as JSON; see docs/json_schema.md."""
    return {
        "stages": [
            {
                "label": stage.label,
                "path": shown(stage.path),
                "instructions": len(stage.definitions),
                "created": list(stage.created),
                "removed": list(stage.removed),
                "changed": list(stage.changed),
                "change_bytes": stage.change_bytes,
                "missing_part": stage.missing_part,
            }
            for stage in stages
        ],
        "events": None
        if name is None
        else [
            {"label": stage.label, "path": shown(stage.path), "event": event}
            for stage, event in events_of(stages, name)
        ],
    }
