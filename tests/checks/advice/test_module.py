"""Tests for advice on data movement and duplicate computations."""

from checks.advised import GPU, TPU, advice

ROWS = "f32[512,512]{1,0}"
COLUMNS = "f32[512,512]{0,1}"


def _module(*lines: str, before: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"HloModule m, is_scheduled=true\n\n{before}ENTRY %main {{\n{body}}}\n"


def test_copies_for_layout_changes_are_reported() -> None:
    text = _module(
        f"%a = {ROWS} parameter(0)",
        f"%one = {COLUMNS} copy(%a)",
        f"%two = {COLUMNS} copy(%a)",
        f"%three = {ROWS} copy(%a)",
        f"ROOT %four = {ROWS} transpose(%one), dimensions={{1,0}}",
    )
    reported = advice("layout-copy", text, stem=GPU)
    assert [sentence.partition(". ")[0] for _, _, sentence in reported] == [
        "2 instructions like `one` change only the layout of 1,048,576 B (1.00 MiB) each: "
        f"`{ROWS}` becomes `{COLUMNS}`",
        "`four` changes only the order of dimensions of 1,048,576 B (1.00 MiB): "
        f"`{COLUMNS}` becomes `{ROWS}`",
    ]
    assert [place[:2] for _, place, _ in reported] == ["5:", "8:"]
    assert len(advice("layout-copy", text, stem=GPU, size=2097152)) == 1


def test_copies_in_a_fusion_are_ignored() -> None:
    fused = f"%fused {{\n  %p = {ROWS} parameter(0)\n  ROOT %c = {COLUMNS} copy(%p)\n}}\n\n"
    text = _module(
        f"%a = {ROWS} parameter(0)",
        f"ROOT %f = {COLUMNS} fusion(%a), kind=kLoop, calls=%fused",
        before=fused,
    )
    assert advice("layout-copy", text, stem=GPU) == []


def _adding(name: str, letter: str, count: int = 8, operand: int = 1) -> str:
    """Return a computation with ``count`` additions between its parameter and its root."""
    added = "".join(
        f'  %{letter}{number} = f32[8] add(%{letter}0, %{letter}0), metadata={{op_name="{name}"}}\n'
        for number in range(1, count + 1)
    )
    return (
        f"%{name} {{\n  %{letter}0 = f32[8] parameter(0)\n{added}"
        f"  ROOT %{letter}r = f32[8] add(%{letter}0, %{letter}{operand})\n}}\n\n"
    )


def _calling(*bodies: str) -> str:
    calls = [f"%f{number} = f32[8] fusion(%a), kind=kLoop, calls=%{name}"
             for number, name in enumerate(("x", "y", "z"))]  # fmt: skip
    return _module("%a = f32[8] parameter(0)", *calls, before="".join(bodies))


def test_computations_with_other_names_are_duplicates() -> None:
    text = _calling(_adding("x", "p"), _adding("y", "q", operand=0), _adding("z", "r"))
    reported = advice("duplicate-computation", text, stem=GPU)
    ((_, place, sentence),) = reported
    assert place == "3: %»x« {"
    assert sentence.startswith("1 computation is identical to `x`: 10 duplicate instructions.")
    small = _calling(*(_adding(name, letter, count=7) for name, letter in ("xp", "yq")))
    assert advice("duplicate-computation", small, stem=GPU) == []


def test_host_transfers_are_reported() -> None:
    host, here = "f32[512,512]{1,0:S(5)}", "f32[512,512]{1,0}"
    text = _module(
        f"%a = {host} parameter(0)",
        f"%in = ({here}, {host}, u32[]{{:S(2)}}) copy-start(%a)",
        f"%there = {here} copy-done(%in)",
        f"%back = {host} copy(%there)",
        f"%near = {here} copy(%there)",
        "%t = token[] after-all()",
        f"%s = ({here}, u32[], token[]) send(%near, %t), channel_id=1, is_host_transfer=true",
        f"%d = ({here}, u32[], token[]) send(%near, %t), channel_id=2",
        f"ROOT %r = ({host}) tuple(%back)",
    )
    reported = advice("host-transfer", text, stem=TPU)
    assert [sentence.partition(" each")[0] for _, _, sentence in reported] == [
        "`in` moves 1,048,576 B (1.00 MiB) from the host",
        "`back` moves 1,048,576 B (1.00 MiB) to the host",
        "`s` moves 1,048,576 B (1.00 MiB) to the host",
    ]


def test_transfer_is_reported_once_at_its_start() -> None:
    host, here = "f32[8,512]{1,0:S(5)}", "f32[1,512]{1,0}"
    wrapped = (
        f"%wrapped {{\n  %p = {host} parameter(0)\n  %i = s32[] parameter(1)\n"
        f"  ROOT %slice = {here} dynamic-slice(%p, %i, %i), dynamic_slice_sizes={{1,512}}\n}}\n\n"
    )
    text = _module(
        f"%a = {host} parameter(0)",
        "%n = s32[] constant(0)",
        f"%begin = (({host}, s32[]), {here}, u32[]) async-start(%a, %n), calls=%wrapped",
        f"ROOT %end = {here} async-done(%begin)",
        before=wrapped,
    )
    ((_, _, sentence),) = advice("host-transfer", text, stem=GPU)
    assert sentence.startswith("`begin` moves 2,048 B (2.0 KiB) from the host")


def test_copies_between_memory_spaces_are_no_layout_changes() -> None:
    text = _module(f"%a = {ROWS} parameter(0)", "ROOT %c = f32[512,512]{1,0:S(1)} copy(%a)")
    ((_, _, sentence),) = advice("layout-copy", text, stem=TPU)
    assert "changes only the memory space" in sentence
    assert "Use one layout" not in sentence


def test_copy_to_another_layout_and_memory_space() -> None:
    text = _module(f"%a = {ROWS} parameter(0)", "ROOT %c = f32[512,512]{0,1:S(1)} copy(%a)")
    ((_, _, sentence),) = advice("layout-copy", text, stem=TPU)
    assert "changes only the layout and the memory space of" in sentence
    assert "Use one layout" in sentence


def test_unscheduled_module_has_no_findings() -> None:
    text = _module(f"%a = {ROWS} parameter(0)", f"ROOT %one = {COLUMNS} copy(%a)")
    assert len(advice("layout-copy", text, stem=GPU)) == 1
    assert advice("layout-copy", text.replace(", is_scheduled=true", ""), stem=GPU) == []
