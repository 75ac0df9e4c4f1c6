"""Tests for the tables in docs/json_schema.md, compared with the output of ``--format json``."""

import gc
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import offload_texts
from compiling.stand_in import StandIn, python_with_jax, write_dump
from compiling.test_proofs import dump_with_ranges, forbidding_dump
from docs.pages import DOCS, blocks, table
from e2e.compiles import STEMS
from fused_collective import FUSED_COLLECTIVE
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.cli.main import main
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.reports.program_table import ProgramRow, program_json
from oom_messages import DUMP, GPU, OOM, REMATERIALIZATION
from profiles.written import Event, profile
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM
from stats.test_measured_programs import MODULE as TIMED_MODULE
from stats.test_measured_programs import written_profile

PAGE = DOCS / "json_schema.md"
BROKEN = next(one.text for one in blocks(DOCS / "command_line.md") if one.caption == "broken.hlo")
pytestmark = pytest.mark.xdist_group("json_schema")  # one process prints the JSON
COMPILES = {
    **STEMS,
    "one file": "samples/sample_001",
    "one file with module": "tpu_v5e_jax_0.6.2/module_0001.jit_mlp_train.cl_829516930.after_opt",
    "oldest": "gpu_h100_jax_0.4.38/module_0001.jit_f.sm_9.0_gpu_after_opt",
}
# Partial dumps with missing facts.
PARTS = {
    "assignment": "BufferAssignment:\nallocation 0: size 512, color 11, preallocated-temp:\n"
    " value: <1 a> (size=512,offset=0): f32[4]{0:Z(1)}\n",
    "values": "Used values:\n<1 a @0>\n positions:\n  a\n uses:\n  (none)\n from instruction:"
    " %a = f32[4]{0} parameter(0)\n<2 b @0>\n positions:\n  b\n uses:\n  (none)\n"
    " from instruction: ?\n",
    "live range": "HloLiveRange (max 1):\n  InstructionSequence:\n    0:a\n  BufferLiveRange:\n"
    "    a{}:0-1\n",
    "module": "HloModule m\n\nempty () -> f32[] {\n}\n\nENTRY e {\n  a = f32[4] parameter(0)\n}\n",
}
_VMEM_MESSAGE = """\
Ran out of memory in memory space vmem. Please file a bug.

Largest program allocations in vmem:

  XLA label: register allocator spill slots
"""
_DONATED = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}) }, buffer_donor={ (1, {}) }

ENTRY %main (x: f32[8], y: s32[8], z: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = s32[8]{0} parameter(1)
  %z = f32[8]{0} parameter(2)
  %a = f32[8]{0} negate(%x)
  %b = f32[8]{0} negate(%z)
  ROOT %r = (f32[8]{0}, f32[8]{0}) tuple(%a, %b)
}
"""
_COLLECTIVES = """\
HloModule m, is_scheduled=true

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[8] all-gather(a), dimensions={0}, metadata={op_name="f" source_file="f.py" source_line=1}
  ROOT c = f32[8] all-gather(a), dimensions={0}, replica_groups={{0,1}}
}
"""
_KERNEL = """\
HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  ROOT b = f32[4] custom-call(a), custom_call_target="my_kernel"
}
"""
_INSPECTED = ("-buffer-assignment.txt", "after_optimizations.txt", "thunk_sequence.txt")
_INSTRUCTION = "[instruction](#instruction)"
_DUMP = "[memory dump](#memory-dump) or [module dump](#module-dump)"
_AT = f"[value](#value), {_INSTRUCTION}, [allocation](#allocation), or [other](#other)"
_LITERAL = re.compile(r'`"([\w\-]+)"`')
_OBJECT = re.compile(r"\[([\w ]+)\]\(#[\w\-]+\)")
_PLAIN = {"integer": int, "string": str, "boolean": bool, "number": float}


@dataclass(frozen=True, slots=True)
class Key:
    """A row of a table: the type of a key, and whether the key can be missing."""

    type: str
    is_optional: bool


Objects = dict[str, dict[str, Key]]


def documented_objects() -> Objects:
    """Return the objects of the page by name."""
    headings = re.findall(r"^### (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    objects = {}
    for heading in headings:
        rows = table(PAGE, f"### {heading}")
        objects[heading.lower()] = {
            row[0].strip("`"): Key(row[1].removesuffix(", optional"), row[1].endswith(", optional"))
            for row in rows
        }
    return objects


OBJECTS = documented_objects()


class SchemaComparison:
    """A comparison of printed JSON with the tables."""

    def __init__(self) -> None:
        self.printed_keys: set[tuple[str, str]] = set()

    def problems(self, printed: Any, kind: str, path: str = "") -> Iterator[str]:
        """Yield what differs from the type ``kind``, a cell of a table."""
        if kind.startswith("list of ") and not (printed is None and kind.endswith(" or null")):
            if not isinstance(printed, list):
                yield f"{path} is not a {kind}"
                return
            of = kind.removeprefix("list of ").removesuffix(" or null")
            for item in printed:
                yield from self.problems(item, of, f"{path}[]")
        elif kind.startswith("map of ") and isinstance(printed, dict):
            for key, item in printed.items():
                yield from self.problems(item, kind.removeprefix("map of "), f"{path}.{key}")
        elif isinstance(printed, dict):
            names = [name.replace("-", " ") for name in _OBJECT.findall(kind)]
            fitting = [name for name in names if literals_fit(printed, name)]
            if len(fitting) != 1:
                yield f"{path} is not exactly one of {names}"
                return
            yield from self._object(printed, fitting[0], path)
        elif not plain_fits(printed, kind):
            yield f"{path} is {printed!r}, not {kind}"

    def _object(self, printed: dict[str, Any], name: str, path: str) -> Iterator[str]:
        keys = OBJECTS[name]
        for key in printed.keys() - keys.keys():
            yield f"{path}.{key} is not in the table of {name}"
        for key, described in keys.items():
            if key in printed:
                self.printed_keys.add((name, key))
                yield from self.problems(printed[key], described.type, f"{path}.{key}")
            elif not described.is_optional:
                yield f"{path}.{key} is missing in {name}"


def literals_fit(printed: dict[str, Any], name: str) -> bool:
    """Return whether the keys with fixed values have one of these values."""
    fixed = {key: _LITERAL.findall(one.type) for key, one in OBJECTS[name].items()}
    return all(printed.get(key) in values for key, values in fixed.items() if values)


def plain_fits(printed: Any, kind: str) -> bool:
    """Return whether a string, number, Boolean or null has a type."""
    if printed is None:
        return kind.endswith(" or null")
    literals = _LITERAL.findall(kind)
    if literals:
        return printed in literals
    return type(printed) is _PLAIN.get(kind.removesuffix(" or null"))


def compile_files(corpus: Path, stem: str, folder: Path) -> list[Path]:
    """Copy a compile, and return its assignment, module, and thunks."""
    folder.mkdir()
    parent, _, name = stem.rpartition("/")
    front = re.split(r"\.(?:cpu_|sm_[\d.]+a?_gpu_)?after_opt", name)[0]
    for path in (corpus / parent).glob(f"{front}.*txt"):
        shutil.copy(path, folder)
    found = sorted(path for path in folder.iterdir() if path.name.endswith(_INSPECTED))
    return found or sorted(folder.iterdir())


def run(*arguments: str | Path) -> Any:
    """Return the JSON output of ``hlo-lsp``, run in this process because of the many calls."""
    options = ("--format", "json")
    with redirect_stdout(StringIO()) as out:
        main([*map(str, arguments), *options])
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def printed(
    corpus_small: Path, corpus_profiles: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[tuple[str, Any, str]]]:
    """Yield the outputs of commands: for each a name, the JSON, and its type."""
    thresholds = gc.get_threshold()  # Commands change them.
    dumps = examples(corpus_small, tmp_path_factory.mktemp("json"))
    yield [*dumps, *profile_examples(corpus_profiles, tmp_path_factory.mktemp("profile"))]
    gc.set_threshold(*thresholds)


def profile_examples(corpus: Path, folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the outputs for a profile with modules, and for one without."""
    path = folder / "p.xplane.pb"
    kernel = Event("k", 0, 5, {"hlo_op": "a", "hlo_module": "jit_f"})
    path.write_bytes(profile({"/device:GPU:0": {"Stream #1": [kernel, Event("copy", 9, 1)]}}))
    for one in (corpus / "jax_0_12" / "train", path):
        yield "profile", run("profile", one), "[profile](#profile)"
    timed = folder / "timed" / "module_0003.m.cpu_after_optimizations.txt"
    timed.parent.mkdir()
    timed.write_text(TIMED_MODULE, "utf-8")
    written_profile(timed.with_name("host.xplane.pb"), dot=10, neg=30)
    for chip in ((), ("--chip", "v5e")):
        yield "times", run("inspect", timed, "--instruction", "neg", *chip), _INSTRUCTION
        times = run("inspect", timed, "--computation", "e", *chip)
        yield "times of a computation", times, "[computation](#computation)"
    compared = run("profile", corpus / "jax_0_12" / "train", "--compare", path)
    yield "profile --compare", compared, "[compared profiles](#compared-profiles)"


def examples(corpus: Path, folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the outputs of commands for real dumps and for partial dumps."""
    for name, stem in COMPILES.items():
        for path in compile_files(corpus, stem, folder / name):
            yield path.name, run("inspect", path), _DUMP
    for name, text in PARTS.items():
        part = folder / f"{name}.txt"
        part.write_text(text, "utf-8")
        yield name, run("inspect", part), _DUMP
        if name != "assignment":
            yield f"a in {name}", run("inspect", part, "--instruction", "a"), _INSTRUCTION
    (module,) = (folder / "tpu").glob("*.after_optimizations.txt")
    (assignment,) = (folder / "tpu").glob("*-buffer-assignment.txt")
    log = folder / "log.txt"
    log.write_text(stdout_dump(assignment, module), "utf-8")
    yield log.name, run("inspect", log), "[stdout dump](#stdout-dump)"
    broken = folder / "broken.hlo"
    broken.write_text(BROKEN, "utf-8")
    for path, place in ((broken, "5:8"), (broken, "5:15"), (assignment, "2"), (assignment, "3:12")):
        yield place, run("inspect", path, "--at", place), _AT
    for path, name in ((broken, "main"), (folder / "module.txt", "empty")):
        yield name, run("inspect", path, "--computation", name), "[computation](#computation)"
    report = "[memory error](#memory-error)"
    logs = {"vmem": _VMEM_MESSAGE, "gpu": GPU, "rematerialization": REMATERIALIZATION}
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text, "utf-8")
    for path in (*sorted(OOM.glob("*.txt")), *sorted(folder.glob("*.log"))):
        yield path.name, run("oom", path, *(DUMP.glob("*-buffer-assignment.txt"))), report
    yield from memory_examples(folder, assignment)
    yield "check", run("check", broken), "[findings](#findings)"
    yield "statistics", run("check", broken, "--statistics"), "[counts](#counts)"
    row = program_json(ProgramRow("BATCH=8", problem="out of memory"))  # of `run --each`
    yield "run", {"programs": [row]}, "[programs](#programs)"
    yield "table", run("summary", "--table", DUMP, broken), "[programs](#programs)"
    yield "values", run("summary", "--values", DUMP), "[largest values](#largest-values)"
    yield "rule", run("check", "--explain"), "[rules](#rules)"


def memory_examples(folder: Path, assignment: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the outputs of the commands about memory use."""
    without_schedule = folder / "without_schedule.txt"
    ranges = "HloLiveRange (max 5):\n" + RANGES[RANGES.index("  BufferLiveRange") :]
    without_schedule.write_text(ASSIGNMENT + "\n" + ranges, "utf-8")
    module = folder / "jit_f" / "module_0001.jit_f.cl_1.after_optimizations.txt"
    module.parent.mkdir()
    alias = "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    module.write_text(MODULE.replace("is_scheduled=true", alias), "utf-8")
    unused = ASSIGNMENT.replace("size 1024, output", "size 1088, output")
    module.with_name(f"{module.stem}-buffer-assignment.txt").write_text(unused, "utf-8")
    module.with_name(f"{module.stem}-live-range.txt").write_text(RANGES, "utf-8")
    yield from diff_examples(module, folder)
    found = "[find result](#find-result)"
    paths = (assignment, module, without_schedule)
    for query in ("x", "fusion", "programs.py:41", "f32[256]"):
        yield query, run("find", query, *paths), found
    alone = folder / "alone" / "assignment.txt"
    alone.parent.mkdir()
    alone.write_text(ASSIGNMENT, "utf-8")
    summaries = "[summaries](#summaries)"
    yield "summary", run("summary", "--all", *paths, folder / "module.txt", alone), summaries
    timelines = "[timelines](#timelines)"
    yield "timeline", run("summary", "--timeline", *paths, folder / "module.txt"), timelines
    yield "timeline at", run("summary", "--timeline", *paths, "--at", "3"), timelines
    kept = folder / "kept" / module.name
    kept.parent.mkdir()
    kept.write_text(MODULE, "utf-8")
    kept.with_name(f"{kept.stem}-buffer-assignment.txt").write_text(ASSIGNMENT, "utf-8")
    for path in (assignment, module, kept, without_schedule, folder / "values.txt"):
        for name in ("a", "b", "x", "fusion.9", "0", "1", "2", "3", "5", "20"):
            with suppress(json.JSONDecodeError):  # without a buffer of this name
                yield (
                    f"why {name}",
                    run("inspect", path, name),
                    "[explained buffers](#explained-buffers)",
                )
    part = folder / "assignment.txt"
    yield "why 1", run("inspect", part, "1"), "[explained buffers](#explained-buffers)"


_RELAYOUT = """\
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4096,4096]{1,0} parameter(0)
  ROOT c = f32[4096,4096]{0,1} copy(p)
}
"""


def cost_examples(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the cost of a compile on a chip, and of a module text without one."""
    kind = "[costs](#costs)"
    yield "cost", run("cost", folder / "tpu", "--chip", "v5e"), kind
    (folder / "kernel.txt").write_text(_KERNEL, "utf-8")
    yield "cost of a kernel without chip", run("cost", folder / "kernel.txt"), kind
    yield "a kernel", run("inspect", folder / "kernel.txt", "--instruction", "b"), _INSTRUCTION
    (folder / "relayout.txt").write_text(_RELAYOUT, "utf-8")
    advised = run("summary", folder / "relayout.txt", folder / "tpu", "--all", "--chip", "v5e")
    yield "summary on a chip", advised, "[summaries](#summaries)"
    (folder / "timed.txt").write_text(FUSED_COLLECTIVE, "utf-8")
    timed = run("cost", "--collectives", folder / "timed.txt", "--chip", "v5e")
    yield "overlap with times", timed, "[overlaps](#overlaps)"
    (folder / "synchronous.txt").write_text(_COLLECTIVES, "utf-8")
    synchronous = run("cost", "--collectives", folder / "synchronous.txt", "--chip", "v5e")
    yield "overlap with synchronous times", synchronous, "[overlaps](#overlaps)"
    yield from mesh_examples(folder)


_PARTITIONED = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %e {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %n = f32[8] negate(%x), metadata={op_name="neg"}
  %s = f32[8] sine(%x), metadata={op_name="sin"}
  %a = f32[8] all-reduce-start(%n), channel_id=1, replica_groups={{0,1},{2,3}}, \
use_global_device_ids=true
  %b = f32[8] all-reduce-done(%a)
  ROOT %c = f32[8] all-reduce(%b), channel_id=2, replica_groups={}, use_global_device_ids=true
}
"""


def mesh_examples(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the collectives of programs on a mesh with and without names."""
    (folder / "mesh.txt").write_text(_PARTITIONED, "utf-8")
    unnamed = _PARTITIONED.replace("mesh['data'=2,'model'=2], [{'data'}]", "devices=[2,2]<=[4]")
    (folder / "unnamed.txt").write_text(unnamed, "utf-8")
    for name in ("mesh.txt", "unnamed.txt"):
        yield name, run("cost", "--collectives", folder / name), "[overlaps](#overlaps)"
        times = run("cost", "--collectives", folder / name, "--chip", "v5e")
        yield f"times of {name}", times, "[overlaps](#overlaps)"
        yield f"cost of {name}", run("cost", folder / name, "--by", "axis"), "[costs](#costs)"
        yield f"c of {name}", run("inspect", folder / name, "--instruction", "c"), _INSTRUCTION
    result = "[axis result](#axis-result)"
    yield "axis", run("find", folder / "mesh.txt", "--axis", "data", "--chip", "v5e"), result
    cut = folder / "parts" / "module_0001.m.cpu_after_optimizations.txt"
    cut.parent.mkdir()
    cut.write_text(_PARTITIONED, "utf-8")
    whole = _PARTITIONED.replace("f32[8]", "f32[16]").replace("is_scheduled=true, ", "")
    cut.with_name("module_0001.m.before_optimizations.txt").write_text(whole, "utf-8")
    yield "axis of parts", run("find", folder / "parts", "--axis", "data"), result
    for name in ("x", "s", "c"):
        yield f"part of {name}", run("inspect", cut, "--instruction", name), _INSTRUCTION


def history_examples(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield what passes changed, also with a text that is cut off."""
    histories = "[histories](#histories)"
    yield "history", run("history", folder / "tpu"), histories
    yield "history of x", run("history", folder / "tpu", "tuple.1"), histories
    cut = folder / "cut"
    cut.mkdir()
    (cut / "module_0001.jit_f.before_optimizations.txt").write_text(MODULE, "utf-8")
    end = MODULE[: MODULE.index("  ROOT")]
    (cut / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(end, "utf-8")
    yield "history of a text that is cut off", run("history", cut), histories


def diff_examples(module: Path, folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield comparisons of a compile with a changed one and with parts of dumps."""
    changed = folder / "changed" / module.name
    changed.parent.mkdir()
    longer = "  %d = f32[256]{0} negate(%b)\n  ROOT %r"
    changed.write_text(MODULE.replace("cosine(", "sine(").replace("  ROOT %r", longer), "utf-8")
    assignment = ASSIGNMENT.replace(
        "<2 a @0> (size=2048,offset=0)", "<2 a @1> (size=2048,offset=0)"
    )
    assignment = assignment.replace("size 3072, pre", "size 2048, color 1, pre")
    changed.with_name(f"{module.stem}-buffer-assignment.txt").write_text(assignment, "utf-8")
    changed.with_name(f"{module.stem}-live-range.txt").write_text(RANGES, "utf-8")
    stem = module.name.partition(".after")[0]
    module.with_name(f"{stem}.debug_options").write_text("xla_a: 1\nxla_b: 2\n", "utf-8")
    changed.with_name(f"{stem}.debug_options").write_text("xla_a: 3\nxla_c: 2\n", "utf-8")
    compared = "[compared modules](#compared-modules)"
    for before, after in itertools.permutations((module, changed, folder / "module.txt"), 2):
        yield "diff", run("diff", before, after, "--chip", "v5e"), compared
    yield "diff of folders", run("diff", module.parent, folder / "tpu"), compared
    listed = "[listed modules](#listed-modules)"
    yield "modules", run("modules", module, changed, folder / "module.txt"), listed
    for host, text in {"host_0": MODULE, "host_1": MODULE.replace("multiply", "add")}.items():
        (folder / "pod" / host).mkdir(parents=True)
        (folder / "pod" / host / f"{STEM}.txt").write_text(text, "utf-8")
    (folder / "pod" / "host_2").mkdir()
    (folder / "pod" / "host_2" / "module_0002.jit_g.cpu_after_optimizations.txt").write_text(MODULE)
    yield "hosts", run("modules", "--hosts", folder / "pod"), "[compared hosts](#compared-hosts)"
    yield (
        "overlap",
        run("cost", "--collectives", folder / "one file with module"),
        "[overlaps](#overlaps)",
    )
    donations = "[donations](#donations)"
    yield "donation", run("summary", "--donation", folder / "tpu"), donations
    yield (
        "donation without module",
        run("summary", "--donation", folder / "assignment.txt"),
        donations,
    )
    (folder / "donated.txt").write_text(_DONATED, "utf-8")
    yield "donation without sizes", run("summary", "--donation", folder / "donated.txt"), donations
    yield "padding", run("summary", "--padding", folder / "tpu"), "[paddings](#paddings)"
    yield from cost_examples(folder)
    (folder / "unscheduled.txt").write_text(PARTS["module"], "utf-8")
    unscheduled = run("cost", "--collectives", folder / "unscheduled.txt")
    yield "overlap without schedule", unscheduled, "[overlaps](#overlaps)"
    (folder / "collectives.txt").write_text(_COLLECTIVES, "utf-8")
    collectives = run("cost", "--collectives", folder / "collectives.txt")
    yield "overlap with collectives", collectives, "[overlaps](#overlaps)"
    (folder / "fused.txt").write_text(FUSED_COLLECTIVE, "utf-8")
    fused = run("cost", "--collectives", folder / "fused.txt")
    yield "overlap with collectives in fusions", fused, "[overlaps](#overlaps)"
    offloaded = folder / "offload"
    offloaded.mkdir()
    for name, text in zip(("before", "after"), offload_texts.texts(offload_texts.TWO), strict=True):
        path = offloaded / f"{offload_texts.STEM}.{name}_optimizations.txt"
        path.write_text(text, "utf-8")
    yield "overlap with requests", run("cost", "--collectives", offloaded), "[overlaps](#overlaps)"
    yield from history_examples(folder)
    part = folder / "assignment.txt"
    yield "diff of assignments", run("diff", part, part), compared
    yield from unknown_examples(folder)


def unknown_examples(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield answers in which the memory of a compile, or the size of an array, is unknown."""
    (module,) = (folder / "tpu").glob("*after_optimizations.txt")
    alone = folder / "text" / module.name
    alone.parent.mkdir()
    alone.write_bytes(module.read_bytes())
    compared = "[compared modules](#compared-modules)"
    yield "diff without memory", run("diff", alone, folder / "tpu"), compared
    unbounded = folder / "unbounded.txt"
    unbounded.write_text(
        "HloModule f\n\nENTRY m {\n  ROOT x = f32[?]{0} parameter(0)\n}\n", "utf-8"
    )
    yield (
        "donation of unbounded",
        run("summary", "--donation", unbounded),
        "[donations](#donations)",
    )
    dump = write_dump(folder / "compiled")
    with (
        patch.object(CompilerProcess, "script", StandIn(folder, dumps=(dump,)).script),
        patch.dict(os.environ, python_with_jax(folder)),
    ):
        yield "compile", run("compile", dump, "--python", sys.executable), compared
        yield from proven_examples(folder)


def proven_examples(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield answers with what a compiler says, which does not write live ranges at first."""
    path = dump_with_ranges(folder / "proven")
    options = ("--all", "--prove", "--python", sys.executable)
    summaries = "[summaries](#summaries)"
    yield "summary without proof", run("summary", path, *options), summaries
    with patch.object(CompilerProcess, "script", StandIn(folder, dumps=(path,)).script):
        yield "summary with proof", run("summary", path, *options), summaries
    path, overlaps = forbidding_dump(folder / "forbidding"), "[overlaps](#overlaps)"
    command = ("cost", "--collectives", path, *options[1:])
    with patch.object(CompilerProcess, "script", StandIn(folder, dumps=(path,)).script):
        yield "option with proof", run(*command), overlaps
    with patch.object(CompilerProcess, "script", StandIn(folder).script):
        yield "option without proof", run(*command), overlaps


def stdout_dump(*paths: Path) -> str:
    """Return files as one stdout dump (``--xla_dump_to=-``)."""
    return "".join(
        f"*** Begin {path.name} ***\n{path.read_text('utf-8')}*** End {path.name} ***\n"
        for path in paths
    )


def test_printed_json_is_as_documented(printed: list[tuple[str, Any, str]]) -> None:
    comparison = SchemaComparison()
    wrong = {
        f"{name}: {problem}"
        for name, facts, kind in printed
        for problem in comparison.problems(facts, kind)
    }
    assert not wrong, "\n".join(sorted(wrong))


def test_documented_keys_are_printed(printed: list[tuple[str, Any, str]]) -> None:
    comparison = SchemaComparison()
    for _, facts, kind in printed:
        list(comparison.problems(facts, kind))
    keys = {(name, key) for name, object_ in OBJECTS.items() for key in object_}
    assert sorted(keys - comparison.printed_keys) == []


def test_keys_that_can_be_null_are_null_somewhere(printed: list[tuple[str, Any, str]]) -> None:
    found: set[tuple[str, str]] = set()
    for _, facts, kind in printed:
        add_null_keys(facts, kind, found)
    keys = {
        (name, key)
        for name, object_ in OBJECTS.items()
        for key, one in object_.items()
        if one.type.endswith(" or null")
    }
    assert sorted(keys - found) == []


def add_null_keys(printed: Any, kind: str, found: set[tuple[str, str]]) -> None:
    """Add the keys with null values to ``found``, with the names of their objects."""
    if isinstance(printed, list):
        for item in printed:
            add_null_keys(item, kind, found)
    elif isinstance(printed, dict) and kind.startswith("map of "):
        for item in printed.values():
            add_null_keys(item, kind.removeprefix("map of "), found)
    elif isinstance(printed, dict):
        name = next(one for one in _OBJECT.findall(kind) if literals_fit(printed, one))
        for key, inner in printed.items():
            if inner is None:
                found.add((name, key))
            add_null_keys(inner, OBJECTS[name][key].type, found)


def test_json_of_rules_has_every_rule(printed: list[tuple[str, Any, str]]) -> None:
    (rules,) = (facts for name, facts, _ in printed if name == "rule")
    assert [rule["code"] for rule in rules["rules"]] == list(explanations())
