"""Texts with deep nesting, and with long chains, cycles, and diamonds of references."""

# ruff: noqa: E501  # Each text is on one line.

from hostile.parts import (
    NODE,
    SHAPE,
    Make,
    assignment,
    before,
    breakdown,
    chain,
    module,
    nested,
    operands,
    report,
    row,
    tables,
    value,
    while_chain,
)

# The size is the depth of nesting.
DEEP: dict[str, Make] = {
    "deep tuple shape": lambda n: module([row("copy(%a)", nested("(", SHAPE, ")", n))]),
    "deep parentheses": lambda n: module([row(f"add({nested('(', '%a', ')', n)})")]),
    "deep operand calls": lambda n: module([row(nested("add(", "%a", ")", n))]),
    "deep sharding": lambda n: module(
        [row(f"copy(%a), sharding={nested('{', 'replicated', '}', n)}")]
    ),
    "deep literal": lambda n: module([row(f"constant({nested('{', '1', '}', n)})")]),
    "deep backend config": lambda n: module(
        [row("copy(%a), backend_config=" + nested('{"a":', "1", "}", n))]
    ),
    "deep backend list": lambda n: module(
        [row('copy(%a), backend_config={"a":' + nested("[", "1", "]", n) + "}")]
    ),
    "deep frontend attributes": lambda n: module(
        [row(f"copy(%a), frontend_attributes={nested('{a=', 'b', '}', n)}")]
    ),
    "deep replica groups": lambda n: module(
        [row(f"all-reduce(%a), replica_groups={nested('{', '0', '}', n)}")]
    ),
    "deep metadata": lambda n: module([row(f"copy(%a), metadata={nested('{', 'a=1', '}', n)}")]),
    "deep op_name": lambda n: module(
        [row(f'copy(%a), metadata={{op_name="{nested("jit(", "f", ")/x", n)}"}}')]
    ),
    "deep signature": lambda n: module(
        [],
        [
            f"%f (p: {nested('(', 'f32[4]', ')', n)}) -> f32[4] {{\n  ROOT %p = f32[4] parameter(0)\n}}\n"
        ],
    ),
    "deep module header": lambda n: module(head=f", a={nested('{', '', '}', n)}"),
    "deep entry layout": lambda n: module(
        head=f", entry_computation_layout={{({nested('(', SHAPE, ')', n)})->{SHAPE}}}"
    ),
    "deep inline computation": lambda n: module(
        [row(nested("call(%a), to_apply={ ROOT %r = f32[4] ", "negate(%a)", " }", n))]
    ),
    "deep braces of lines": lambda n: module(["{" for _ in range(n)]),
    "deep physical shape": lambda n: module(
        [row("copy(%a)", "f32[4]" + nested("{0:P(f32[4]", "", ")}", n))]
    ),
    "deep buffers": lambda n: module([row("copy(%a)", nested("b(", SHAPE, ")", n))]),
    # A shape that is 800 deep is an error, which takes longer to explain than a shape to accept.
    "deep shape of a value": lambda n: assignment([value(1, nested("(", SHAPE, ")", 8 * n))]),
    "deep shape of a parameter": lambda n: (
        "BufferAssignment:\nallocation 0: size 4, parameter 0, shape |"
        + nested("(", SHAPE, ")", n)
        + "| at ShapeIndex {}:\n"
    ),
    "deep shapes of a report": lambda n: report(
        [
            "      1.0KiB( 50%);     1.0KiB;            0;                1; "
            + nested("(", "f32[4]", ")", n)
        ]
    ),
    "deep breakdown": lambda n: breakdown(
        f"    {'    ' * k}└── x{k} {NODE}" for k in range(min(n, 1000))
    ),
    "deep thunks": lambda n: "".join(
        f"{' ' * 4 * k}{k:03}: kSequential\t\n" for k in range(min(n, 1000))
    ),
    "chain of stack frames": lambda n: tables(
        f"{k} {{file_location_id=1 parent_frame_id={k + 2}}}" for k in range(1, n)
    ),
    "chain of calls": lambda n: chain(n, lambda at: [at + 1] if at + 1 < n else []),
    "chain of fusions": lambda n: chain(n, lambda at: [at + 1] if at + 1 < n else [], "fusion"),
    "chain of loops": while_chain,
    "cycle of calls": lambda n: chain(n, lambda at: [(at + 1) % n]),
    "diamonds of calls": lambda n: chain(n, lambda at: [at + 1] * 2 if at + 1 < n else []),
    "long diamonds of calls": lambda n: chain(n, lambda at: [k for k in (at + 1, at + 2) if k < n]),
    "chain of operands": lambda n: operands(n, lambda at: f"negate(%{before(at)})"),
    "chain of bitcasts": lambda n: operands(n, lambda at: f"bitcast(%{before(at)})"),
    "chain of tuples": lambda n: module(
        row(f"tuple(%{before(at)})", f"({SHAPE})", f"b{at}") for at in range(n)
    ),
    "chain of elements": lambda n: module(
        row(f"get-tuple-element(%{before(at)}), index=0", name=f"b{at}") for at in range(n)
    ),
    "cycle of operands": lambda n: operands(n, lambda at: f"negate(%b{(at + 1) % n})"),
    "cycle of bitcasts": lambda n: operands(n, lambda at: f"bitcast(%b{(at + 1) % n})"),
    "diamonds of operands": lambda n: operands(n, lambda at: f"add(%{before(at)}, %{before(at)})"),
    "chain of updates": lambda n: operands(
        n, lambda at: f"dynamic-update-slice(%{before(at)}, %a, %a)"
    ),
    "chain of control predecessors": lambda n: operands(
        n, lambda at: f"negate(%a), control-predecessors={{%{before(at)}}}"
    ),
    "chain of asynchronous starts": lambda n: module(
        line
        for at in range(n)
        for line in (
            row(f"copy-start(%{before(at)})", f"({SHAPE}, {SHAPE}, u32[])", f"s{at}"),
            row(f"copy-done(%s{at})", name=f"b{at}"),
        )
    ),
}
