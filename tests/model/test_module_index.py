"""Module indexes of real modules, compared with a simple reader."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.model import name_index
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.name_index import mentioned_names
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text import disk

MODULES = (
    "tpu_v5e/module_0018.jit_scan_fn.cl_1003875606.after_optimizations.txt",
    "tpu_v5e/module_0092.jit_don.cl_1003875606.after_optimizations.txt",
    "cpu/module_0018.jit_cond_fn.cpu_after_optimizations.txt",
    "cpu/module_0000.jit_mlp_train.before_optimizations.txt",
    "gpu_h100/module_0001.jit_mlp_train.sm_9.0a_gpu_after_optimizations.txt",
)
_HEAD = re.compile(r"(ENTRY )?%([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"  (ROOT )?%([\w.\-]+) = ")
_NAME = re.compile(r"%([\w.\-]+)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PARAMETER = re.compile(r" parameter\((\d+)\)")


@dataclass
class Plain:
    """A simple reader: a line uses or calls every name except the first."""

    members: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    roots: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    mentions: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    entry: str = ""

    def read(self, lines: list[str]) -> None:
        """Read lines of the current format, in which names have a percent sign."""
        computation = ""
        for line in lines:
            head, instruction = _HEAD.match(line), _INSTRUCTION.match(line)
            if head is not None:
                computation = head[2]
                if head[1]:
                    self.entry = computation
            elif instruction is not None:
                name = instruction[2]
                self.members[computation].append(name)
                if instruction[1]:
                    self.roots[computation] = name
                number = _PARAMETER.search(line)
                if number is not None:
                    self.parameters[computation][int(number[1])] = name
                for other in dict.fromkeys(_NAME.findall(_STRING.sub("", line))[1:]):
                    self.mentions[other].append(name)


@pytest.fixture(params=MODULES)
def both(request: pytest.FixtureRequest, corpus_small: Path) -> tuple[ModuleIndex, Plain]:
    """Return a module by both readers, without an index of names from another test."""
    document = disk.read_document(corpus_small / request.param)
    plain = Plain()
    plain.read(list(document.lines))
    return DumpFile.of_text(document.text).module, plain


def test_computations_have_their_members_roots_and_parameters(
    both: tuple[ModuleIndex, Plain],
) -> None:
    module, plain = both
    heads = module.all_computations()
    assert [head.name for head in heads] == list(plain.members)
    assert module.entry is not None
    assert module.entry.name == plain.entry
    for head in heads:
        computation = module.computation(head)
        assert [member.name for member in computation.members] == plain.members[head.name]
        assert computation.root is not None
        assert computation.root.name == plain.roots[head.name]
        found = {number: record.name for number, record in computation.parameters.items()}
        assert found == plain.parameters[head.name]
        for member in computation.members:
            assert module.computation_of(member) is head
            assert module.instruction_in_scope(head, member.name) is member


@pytest.mark.parametrize("searches", [0, 1_000_000])
def test_users_and_callers(
    both: tuple[ModuleIndex, Plain], searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_index, "_MANY_INSTRUCTIONS", 0)
    monkeypatch.setattr(name_index, "_MAX_SEARCHES", searches)
    module, plain = both
    for record in module.instructions.records():
        users = {user.name for user in module.users(record)}
        before = {
            name
            for name in plain.mentions[record.name]
            if record.name not in next(iter(module.instructions.all(name))).operands
        }
        assert users | before == set(plain.mentions[record.name])
        for user in module.users(record):
            assert record in module.operands(user)
    for head in module.all_computations():
        callers = [caller.name for caller in module.callers(head)]
        assert callers == plain.mentions[head.name]
        for caller in module.callers(head):
            assert head in module.called_by(caller)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("%p = f32[] parameter(12)", 12),
        ("%p = f32[] parameter( 3 ), sharding={replicated}", 3),
        ("%p = f32[] parameter()", None),
        ("%p = f32[] parameter(x)", None),
        ("%p = f32[] parameter(99999999999999999999)", None),
        ("%p = f32[] negate(0)", None),
    ],
)
def test_number_of_a_parameter(line: str, number: int | None) -> None:
    module = DumpFile.of_text(f"HloModule m\n\nENTRY %e {{\n  {line}\n}}\n").module
    (record,) = module.instructions.all("p")
    assert parameter_number(record) == number


def test_inline_operand_counts_as_use() -> None:
    module = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %a = f32[] constant(0)\n  %b = f32[] constant(0)\n"
        "  %r = f32[] add(%a, f32[] negate(%b))\n}\n"
    ).module
    (b,), (r,) = module.instructions.all("b"), module.instructions.all("r")
    assert module.users(b) == [r]
    assert [record.name for record in module.inputs(r)] == ["a", "b"]


def test_entry_follows_its_mark() -> None:
    file = DumpFile.of_text("HloModule m\n\nENTRY %f {\n}\n\n%g {\n}\n")
    names = [file.module.entry and file.module.entry.name]
    for number, line in ((0, "%f {"), (3, "ENTRY %g {")):
        _replaced(file, number, line)
        names.append(file.module.entry and file.module.entry.name)
    assert names == ["f", None, "g"]  # an empty computation is none


def test_unmarked_entry_and_root_are_the_last() -> None:
    module = DumpFile.of_text(
        "HloModule m\n\n%f {\n  %a = f32[] constant(0)\n}\n\n"
        "%g {\n  %b = f32[] constant(0)\n  %c = f32[] negate(%b)\n}\n"
    ).module
    assert module.entry is module.named("g")
    assert module.entry is not None
    root = module.computation(module.entry).root
    assert root is not None
    assert root.name == "c"


def test_inline_computation_belongs_to_its_instruction() -> None:
    module = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %x = f32[] constant(0)\n"
        "  %r = f32[] reduce(%x, %x), to_apply={ %x = f32[] parameter(0) "
        "ROOT %s = f32[] negate(%x) }\n"
        "  %n = f32[] negate(%x)\n}\n"
    ).module
    (caller,) = module.instructions.all("r")
    (inline,) = module.called_by(caller)
    assert inline.name == "r.to_apply"
    assert module.callers(inline) == [caller]
    assert [member.name for member in module.members(inline)] == ["x", "s"]
    outer, inner = module.instructions.all("x")
    assert [user.name for user in module.users(outer)] == ["r", "n"]
    assert [user.name for user in module.users(inner)] == ["s"]
    assert module.entry is not inline


def test_broken_line_may_have_been_the_root() -> None:
    module = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %a = f32[] constant(0)\n  ROOT %b = f32[] neg\n}\n"
    ).module
    (a,) = module.instructions.all("a")
    assert module.entry is not None
    assert module.computation(module.entry).root is None
    assert not module.is_root(a)


LINES = (
    "  %{} = f32[] add(%{}, %{})",
    "  {} = f32[] add({}, {})",
    "  %{} = f32[] negate(%{}), control-predecessors={{%{}}}",
    "  {} = f32[] negate({}), control-predecessors={{{}}}",
    "  %{} = f32[] fusion(%{}), calls=%{}",
    '  %{} = f32[] exp(%{}), metadata={{op_name="%{}"}}',
    "%{} (p: f32[]) -> f32[] {{",
    "}}",
)
NAMES = ("n", "n.1", "n.2", "n.10", "m", "p")
NAMED = st.sampled_from(NAMES)
LINE = st.builds(str.format, st.sampled_from(LINES), NAMED, NAMED, NAMED)

Said = dict[str, list[list[int]]]


def _said(module: ModuleIndex) -> Said:
    """Return the lines of users and callers by name."""
    users = {
        f"%{name}": [
            [user.line for user in module.users(record)] for record in module.instructions.all(name)
        ]
        for name in NAMES
    }
    callers = {
        name: [
            [caller.line for caller in module.callers(head)]
            for head in module.computations.all(name)
        ]
        for name in NAMES
    }
    return users | callers


def _replaced(file: DumpFile, number: int, line: str) -> None:
    at = 2 + number % (len(file.lines) - 2)
    file.changed(file.document.edit((at, 0), (at, len(file.lines[at])), line))
    file.refresh()


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    lines=st.lists(LINE, min_size=1, max_size=12),
    edits=st.lists(st.tuples(st.integers(0, 99), LINE), max_size=6),
    searches=st.integers(0, 3),
)
def test_index_follows_edits(lines: list[str], edits: list[tuple[int, str]], searches: int) -> None:
    file = DumpFile.of_text("\n".join(["HloModule m", "%f (p: f32[]) -> f32[] {", *lines]))
    for number, line in [(0, lines[0]), *edits]:
        _replaced(file, number, line)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(name_index, "_MANY_INSTRUCTIONS", 0)
            patch.setattr(name_index, "_MAX_SEARCHES", searches)
            found = _said(file.module)
        assert found == _said(DumpFile.of_text(file.document.text).module)


def test_large_computations_are_indexed_in_advance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_index, "_containing", None)  # the search without an index
    rows = [f"  %n.{at} = f32[] negate(%n.{at - 1})" for at in range(1, 1000)]
    file = DumpFile.of_text("\n".join(["HloModule m", "", "ENTRY %e {", *rows, "}"]))
    file.module.index()
    (one,) = file.module.instructions.all("n.500")
    assert [user.name for user in file.module.users(one)] == ["n.501"]
    assert file.module.is_mentioned(one)


def test_long_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n.{at}" for at in range(1000)]
    operands = ", ".join(f"%{name}" for name in names)
    module = DumpFile.of_text(
        f"HloModule m\n\nENTRY %e {{\n  %t = () tuple({operands})\n}}\n"
    ).module
    reads: list[str] = []

    def read(record: InstructionLine) -> set[str]:
        reads.append(record.name)
        return mentioned_names(record)

    monkeypatch.setattr(name_index, "mentioned_names", read)
    assert [len(module.possible_readers(name)) for name in names] == [1] * len(names)
    assert reads == ["t"]


def test_part_of_a_name_is_no_mention() -> None:
    module = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %n = f32[] constant(0)\n  %n.1 = f32[] negate(%n)\n"
        "  %n.10 = f32[] negate(%n)\n}\n"
    ).module
    names = ("n", "n.1", "n.10")
    found = [module.is_mentioned(one) for name in names for one in module.instructions.all(name)]
    assert found == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "map(%x, y), to_apply=%f",
        "map(%x, %y), to_apply=f",
        "map(f32[] negate(%x), f32[] negate(y)), to_apply=%f",
        "conditional(%x, %y, y), branch_computations={%g, f}",
        "conditional(%x, %y, y), branch_computations={f, %g}",
    ],
)
def test_names_may_lack_percent_signs(text: str) -> None:
    module = DumpFile.of_text(f"HloModule m\n\nENTRY %e {{\n  %a = f32[] {text}\n}}\n").module
    (record,) = module.instructions.all("a")
    assert mentioned_names(record) >= {"x", "y", "f"}


def test_loops_follow_edits() -> None:
    lines = ["HloModule m", "ENTRY %e {", "  %w = s32[] while(%x), condition=%c, body=%b", "}"]
    file = DumpFile.of_text("\n".join(lines))
    assert [one.name for one in file.module.loops.records()] == ["w"]
    file.changed(file.document.replace("\n".join(lines).replace("while(", "negate(")))
    file.refresh()
    assert list(file.module.loops.records()) == []


@pytest.mark.parametrize(
    ("header", "counts"),
    [
        ("HloModule m, num_partitions=4, replica_count=2", (4, 2)),
        ("HloModule m, x={y=1}, replica_count=3", (1, 3)),
        ("HloModule m,num_partitions=4,\treplica_count=2", (4, 2)),
        ("HloModule m_num_partitions=4", (1, 1)),
    ],
)
def test_header_has_the_numbers_of_devices(header: str, counts: tuple[int, int]) -> None:
    module = DumpFile.of_text(f"{header}\n\nENTRY %e {{\n}}\n").module
    assert (module.partition_count, module.replica_count) == counts
