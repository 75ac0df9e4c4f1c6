"""Texts with long lists, and with many equal or broken items."""

# ruff: noqa: E501  # Each text is on one line.

from hostile.parts import (
    NODE,
    SHAPE,
    Make,
    assignment,
    before,
    breakdown,
    computation,
    entry,
    live_range,
    module,
    one_line_bodies,
    oom,
    oom_entry,
    operands,
    report,
    row,
    section,
    tables,
    value,
    values,
)

# The size is the number of items.
WIDE: dict[str, Make] = {
    "wide tuple shape": lambda n: module([row("copy(%a)", f"({', '.join([SHAPE] * n)})")]),
    "wide tuple": lambda n: module(
        [row(f"tuple({', '.join(['%a'] * n)})", f"({', '.join([SHAPE] * n)})"),
         *(row(f"get-tuple-element(%b), index={k}", name=f"g{k}") for k in range(n))]
    ),
    "wide tuple by name": lambda n: module(
        [*(row("negate(%a)", name=f"g{k}") for k in range(n)),
         row(f"tuple({', '.join(f'%g{k}' for k in range(n))})", f"({', '.join([SHAPE] * n)})")]
    ),
    "wide operands": lambda n: module([row(f"concatenate({', '.join(['%a'] * n)}), dimensions={{0}}")]),
    "wide dimensions": lambda n: module([row("copy(%a)", f"f32[{','.join(['4'] * n)}]")]),
    "wide layout": lambda n: module(
        [row("copy(%a)", f"f32[{','.join(['1'] * n)}]{{{','.join(map(str, range(n)))}}}")]
    ),
    "wide tiles": lambda n: module([row("copy(%a)", f"f32[4]{{0:T{'(2)' * n}}}")]),
    "wide tile dimensions": lambda n: module([row("copy(%a)", f"f32[4]{{0:T({','.join('2' * n)})}}")]),
    "wide layout letters": lambda n: module([row("copy(%a)", f"f32[4]{{0:{'S(1)' * n}}}")]),
    "wide split": lambda n: module([row("copy(%a)", f"f32[4]{{0:SC{'(0:1,2)' * n}}}")]),
    "wide literal": lambda n: module([row(f"constant({{{', '.join('1' * n)}}})")]),
    "wide devices": lambda n: module(
        [row(f"copy(%a), sharding={{devices=[{n}]{','.join(map(str, range(n)))}}}")]
    ),
    "wide device dimensions": lambda n: module(
        [row(f"copy(%a), sharding={{devices=[{','.join('2' * n)}]<=[{','.join('2' * n)}]}}")]
    ),
    "wide tuple sharding": lambda n: module(
        [row(f"copy(%a), sharding={{{', '.join(['{replicated}'] * n)}}}")]
    ),
    "wide mesh": lambda n: module(
        [row(f"copy(%a), sharding={{mesh[{','.join(chr(39) + 'a' + chr(39) + '=2' for _ in range(n))}], [{{}}]}}")]
    ),
    "wide replica groups": lambda n: module(
        [row(f"all-reduce(%a), replica_groups={{{','.join(f'{{{k}}}' for k in range(n))}}}")]
    ),
    "wide source target pairs": lambda n: module(
        [row("collective-permute(%a), source_target_pairs={"
              + ",".join(f"{{{k},{k + 1}}}" for k in range(n)) + "}")]
    ),
    "wide backend config": lambda n: module(
        [row("copy(%a), backend_config={" + ",".join(f'"k{k}":"v"' for k in range(n)) + "}")]
    ),
    "wide attributes": lambda n: module([row("copy(%a)" + "".join(f", k{k}=1" for k in range(n)))]),
    "wide metadata": lambda n: module(
        [row(f"copy(%a), metadata={{{' '.join(f'k{k}=1' for k in range(n))}}}")]
    ),
    "wide op_name": lambda n: module([row(f'copy(%a), metadata={{op_name="{"scope/" * n}x"}}')]),
    "wide signature": lambda n: module(
        [], ["%f (" + ", ".join(f"p{k}: f32[4]" for k in range(n)) + ") -> f32[4] {\n"
             + "".join(f"  %p{k} = {SHAPE} parameter({k})\n" for k in range(n))
             + "  ROOT %r = f32[4]{0} negate(%p0)\n}\n"]
    ),
    "wide fusion": lambda n: module(
        [row(f"fusion({', '.join(['%a'] * n)}), kind=kLoop, calls=%f")],
        ["%f (" + ", ".join(f"p{k}: f32[4]" for k in range(n)) + ") -> f32[4] {\n"
         + "".join(f"  %p{k} = {SHAPE} parameter({k})\n" for k in range(n))
         + "  ROOT %r = f32[4]{0} negate(%p0)\n}\n"],
    ),
    "wide module header": lambda n: module(head="".join(f", k{k}={{1}}" for k in range(n))),
    "wide aliasing": lambda n: module(
        head=", input_output_alias={ " + ", ".join(
            f"{{{k}}}: (0, {{{k}}}, may-alias)" for k in range(n)) + " }"
    ),
    "wide entry layout": lambda n: module(
        head=", entry_computation_layout={(" + ", ".join([SHAPE] * n) + ")->" + SHAPE + "}"
    ),
    "wide branches": lambda n: module(
        [row(f"conditional(%a, {', '.join(['%a'] * n)}), branch_computations="
              f"{{{', '.join(['%f'] * n)}}}")], [computation("f")]
    ),
    "wide called computations": lambda n: module(
        [row(f"custom-call(%a), called_computations={{{', '.join(f'%f{k}' for k in range(n))}}}")],
        [computation(f"f{k}") for k in range(n)],
    ),
    "one line body": lambda n: one_line_bodies(1, n),
    "one line bodies": lambda n: one_line_bodies(n, 1),
    "one line module": lambda n: operands(n, lambda at: f"negate(%{before(at)})").replace("\n", " "),
    "wide inline computation": lambda n: module(
        [row("call(%a), to_apply={ " + " ".join(f"%i{k} = f32[4] negate(%a)" for k in range(n))
              + " ROOT %z = f32[4] negate(%a) }")]
    ),
    "one instruction on many lines": lambda n: module(
        [row("add(\n" + ",\n".join(["    %a"] * n) + ")")]
    ),
    "attribute on many lines": lambda n: module(
        [row('copy(%a), backend_config={\n' + ",\n".join(f'"k{k}": 1' for k in range(n)) + "}")]
    ),
    "header and blank lines": lambda n: "HloModule m\n\n%f (p: f32[4]) -> f32[4]" + "\n" * n + "{\n}\n",
    "many headers": lambda n: "HloModule m\n\n" + "%f (p: f32[4]) -> f32[4]\n" * n,
    "many open headers": lambda n: "HloModule m\n\n" + "%f (p: f32[4]) -> f32[4] {\n" * n,
    "many ends": lambda n: "HloModule m\n\n" + "}\n" * n,
    "many modules": lambda n: "HloModule m\n\n" * n,
    "many entries": lambda n: "HloModule m\n\n" + module().partition("\n\n")[2] * n,
    "many roots": lambda n: module("  ROOT" + row("negate(%a)", name=f"b{k}")[1:] for k in range(n)),
    "many parameters of a number": lambda n: operands(n, lambda _: "parameter(0)"),
    "many instructions of a name": lambda n: module(row("negate(%a)") for _ in range(n)),
    "many computations of a name": lambda n: module([], [computation("f") for _ in range(n)]),
    "many undefined operands": lambda n: operands(n, lambda at: f"negate(%u{at})"),
    "many undefined calls": lambda n: operands(n, lambda at: f"call(%a), to_apply=%u{at}"),
    "many unknown opcodes": lambda n: operands(n, lambda at: f"no-such-{at}(%a)"),
    "many shapes": lambda n: module(row("copy(%a)", f"f32[{k}]{{0}}", f"b{k}") for k in range(n)),
    "many broken shapes": lambda n: module(row("copy(%a)", f"f32[{k}]{{0:", f"b{k}") for k in range(n)),
    "many junk lines": lambda n: module(f"junk {k} !" for k in range(n)),
    "many statement beginnings": lambda n: module("  %b =" for _ in range(n)),
    "many names alone": lambda n: module(f"  %b{k}" for k in range(n)),
    "many open instructions": lambda n: module("  %b = f32[4] add(" for _ in range(n)),
    "many open comments": lambda n: module("  %b = f32[4] negate(%a) /*" for _ in range(n)),
    "many comments": lambda n: module("  // x" for _ in range(n)),
    "many open quotes": lambda n: module('  %b = f32[4] copy(%a), a="' for _ in range(n)),
    "many uses": lambda n: operands(n, lambda _: "add(%a, %a)"),
    "many callers": lambda n: module(
        (row("call(%a), to_apply=%f", name=f"b{k}") for k in range(n)), [computation("f")]
    ),
    "many fusions": lambda n: module(
        (row(f"fusion(%a), kind=kLoop, calls=%f{k}", name=f"b{k}") for k in range(n)),
        [computation(f"f{k}") for k in range(n)],
    ),
    "many collectives": lambda n: operands(
        n, lambda at: f"all-reduce(%a), replica_groups={{{{0,1}}}}, channel_id={at}, to_apply=%f"
    ),
    "many channels alike": lambda n: operands(n, lambda _: "all-reduce(%a), channel_id=1"),
    "many frames": lambda n: tables(
        f"{k} {{file_location_id=1 parent_frame_id={k}}}" for k in range(1, n)
    ),
    "many frames of a number": lambda n: tables("1 {file_location_id=1}" for _ in range(n)),
    "many frame tables": lambda n: "HloModule m\n\n" + 'FileNames\n1 "a.py"\n\n' * n + module(),
    "many values": lambda n: assignment(value(k) for k in range(n)),
    "many values apart": lambda n: assignment(
        value(k).replace("offset=0", f"offset={512 * k}") for k in range(n)
    ),
    "many values of a number": lambda n: assignment(value(1) for _ in range(n)),
    "many elements of a value": lambda n: assignment(value(k, index=f"{{{k}}}").replace(f"x{k}", "x") for k in range(n)),
    "many allocations": lambda n: "BufferAssignment:\n" + "".join(
        f"allocation {k}: size 512, preallocated-temp:\n{value(k)}\n" for k in range(n)
    ),
    "many allocations of a number": lambda n: "BufferAssignment:\n"
    + "allocation 0: size 512, preallocated-temp:\n" * n,
    "many parameters of an assignment": lambda n: "BufferAssignment:\n" + "".join(
        f"allocation {k}: size 16, parameter 0, shape |f32[4]| at ShapeIndex {{{k}}}:\n" for k in range(n)
    ),
    "many outputs": lambda n: "BufferAssignment:\n"
    + "allocation 0: size 16, output shape is |f32[4]|, maybe-live-out:\n" * n,
    "many broken allocations": lambda n: "BufferAssignment:\n" + "allocation 0: size 16, parameter\n" * n,
    "wide fields of an allocation": lambda n: "BufferAssignment:\nallocation 0: size 16"
    + ", thread-local" * n + ":\n",
    "wide index": lambda n: assignment([value(1, index=f"{{{','.join('0' * n)}}}")]),
    "many entries of values": lambda n: values(entry(k, [f"x{k}"], ["y, operand 0"]) for k in range(n)),
    "many entries of a number": lambda n: values(entry(1, ["x1"], ["y, operand 0"]) for _ in range(n)),
    "many positions": lambda n: values([entry(1, [f"x{k}" for k in range(n)], [])]),
    "many positions alike": lambda n: values([entry(1, ["x"] * n, [])]),
    "many uses of a value": lambda n: values([entry(1, ["x1"], [f"y{k}, operand 0" for k in range(n)])]),
    "many uses alike": lambda n: values([entry(1, ["x1"], ["y, operand 0"] * n)]),
    "many operand numbers": lambda n: values([entry(1, ["x1"], [f"y, operand {k}" for k in range(n)])]),
    "many broken uses": lambda n: values([entry(1, ["x1"], ["y, operand"] * n)]),
    "many broken entries": lambda n: values("<1 x\n positions:" for _ in range(n)),
    "many open values": lambda n: values(["<1 x1 @0>\n positions:\n  x1\n uses:"] * n),
    "instruction on many lines": lambda n: values(
        ["<1 x1 @0>\n positions:\n  x1\n uses:\n from instruction: %x1 = f32[4] copy(%a), a={" + '\n"a": 1,' * n + "}"]
    ),
    "many ranges": lambda n: live_range(n, (f"x{k}{{}}:{k}-{n}" for k in range(n)), (f"x{k}{{}}: 16 bytes" for k in range(n))),
    "many ranges of a name": lambda n: live_range(n, ("x{}:0-3" for _ in range(n)), ("x{}: 16 bytes" for _ in range(n))),
    "many elements of a range": lambda n: live_range(n, (f"x{{{k}}}:0-{n}" for k in range(n))),
    "many steps of a number": lambda n: live_range(1, []).replace("    0:x0", "    0:x0\n" * n),
    "long ranges": lambda n: live_range(n, (f"x{k}{{}}:0-{n}" for k in range(n))),
    "huge steps": lambda n: live_range(n, (f"x{k}{{}}:{10**15}-{10**18}" for k in range(n))),
    "many broken ranges": lambda n: live_range(1, ["x{:0-3"] * n),
    "wide breakdown": lambda n: breakdown(f"    ├── x{k} {NODE}" for k in range(n)),
    "many rows of a report": lambda n: report(
        "      1.0KiB( 50%);     1.0KiB;            0;                1; f32[4]" for _ in range(n)
    ),
    "wide shapes of a report": lambda n: report(
        ["      1.0KiB( 50%);     1.0KiB;            0;                1; " + ", ".join(["f32[4]"] * n)]
    ),
    "many spaces of a report": lambda n: report([]) * n,
    "many thunks": lambda n: "".join(f"{k:03}: kKernel\tkernel = x\n" for k in range(n)),
    "many sections": lambda n: "".join(section(k) for k in range(n)),
    "many sections of a name": lambda n: section(1) * n,
    "many open sections": lambda n: "*** Begin module_0001.f.txt ***\nx\n" * n,
    "many open sections apart": lambda n: "".join(
        f"*** Begin module_{k:04}.f.txt ***\nHloModule m\n" for k in range(n)
    ),
    "many entries of a message": lambda n: oom(oom_entry(k) for k in range(n)),
    "many entries of a rank": lambda n: oom(oom_entry(1) for _ in range(n)),
    "many messages": lambda n: oom([oom_entry(1)]) * n,
    "many messages on a line": lambda n: "Ran out of memory in memory space hbm. " * n,
    "one entry on many lines": lambda n: oom(["  1. Size: 4.00G\n" + "     XLA label: a\n" * n]),
    "long log without a message": lambda n: "x " * n + "\n" + "Out of memory\n" * n,
}  # fmt: skip
