"""Builders of modules, assignments, values, live ranges, reports, and error messages."""

from collections.abc import Callable, Iterable

Make = Callable[[int], str]
SHAPE = "f32[4]{0}"
PARAMETER = f"  %a = {SHAPE} parameter(0)"


def module(rows: Iterable[str] = (), computations: Iterable[str] = (), head: str = "") -> str:
    """Return a module with rows in its entry computation, and other computations before it."""
    body = "\n".join([PARAMETER, *rows, f"  ROOT %r = {SHAPE} negate(%a)"])
    before = "\n".join(computations)
    signature = "(a: f32[4]) -> f32[4]"
    entry = f"ENTRY %main {signature} {{\n{body}\n}}\n"
    return f"HloModule m, is_scheduled=true{head}\n\n{before}\n{entry}"


def row(rest: str, shape: str = SHAPE, name: str = "b") -> str:
    return f"  %{name} = {shape} {rest}"


def nested(opening: str, inner: str, closing: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


def computation(name: str, *rows: str, shape: str = SHAPE) -> str:
    body = "\n".join(
        (*(f"  {row}" for row in rows), f"  ROOT %r.{name} = {shape} negate(%p.{name})")
    )
    return (
        f"%{name} (p.{name}: f32[4]) -> f32[4] {{\n  %p.{name} = {shape} parameter(0)\n{body}\n}}\n"
    )


def chain(n: int, next_of: Callable[[int], Iterable[int]], opcode: str = "call") -> str:
    """Return computations that call each other."""
    key = {"call": "to_apply", "fusion": "kind=kLoop, calls"}[opcode]
    made = [
        computation(
            f"f{at}",
            *(
                f"%c.{at}.{k} = {SHAPE} {opcode}(%p.f{at}), {key}=%f{called}"
                for k, called in enumerate(next_of(at))
            ),
        )
        for at in reversed(range(n))
    ]
    return module([row(f"{opcode}(%a), {key}=%f0")], made)


def while_chain(n: int) -> str:
    made = []
    for at in reversed(range(n)):
        rows = [f"%w.{at} = {SHAPE} while(%p.f{at}), condition=%c{at}, body=%f{at + 1}"]
        made += [computation(f"c{at}"), computation(f"f{at}", *(rows if at < n - 1 else []))]
    return module([row("while(%a), condition=%c0, body=%f0")], made)


def one_line_bodies(n: int, width: int) -> str:
    rows = "".join(f" %p{k} = {SHAPE} parameter({k})" for k in range(width))
    return "HloModule m\n" + "".join(
        f"%f{at} (p: f32[4]) -> f32[4] {{{rows} ROOT %r = {SHAPE} negate(%p0) }}\n"
        for at in range(n)
    ) + module().partition("\n")[2]  # fmt: skip


def operands(n: int, operands_of: Callable[[int], str]) -> str:
    return module(row(operands_of(at), name=f"b{at}") for at in range(n))


def before(at: int) -> str:
    return f"b{at - 1}" if at else "a"


def assignment(values: Iterable[str]) -> str:
    rows = "\n".join(values)
    return f"BufferAssignment:\nallocation 0: size 512, preallocated-temp:\n{rows}\n"


def value(number: int, shape: str = "f32[4]{0:T(128)}", index: str = "") -> str:
    return f" value: <{number} x{number}{index} @0> (size=512,offset=0): {shape}"


def values(entries: Iterable[str]) -> str:
    return "Used values:\n" + "\n".join(entries) + "\n"


def entry(number: int, positions: Iterable[str], uses: Iterable[str]) -> str:
    rows = [f"<{number} x{number} @0>", " positions:", *(f"  {row}" for row in positions)]
    rows += [" uses:", *(f"  {row}" for row in uses)]
    return "\n".join([*rows, f" from instruction: %x{number} = f32[4]{{0}} parameter(0)"])


def live_range(steps: int, ranges: Iterable[str], peak: Iterable[str] = (), rest: str = "") -> str:
    rows = ["HloLiveRange (max 3):", "  InstructionSequence:"]
    rows += [f"    {step}:x{step}" for step in range(steps)]
    rows += ["  BufferLiveRange:", *(f"    {row}" for row in ranges)]
    rows += ["  Live ranges at 2 (peak):", *(f"    {row}" for row in peak)]
    return "\n".join(rows) + f"\n{rest}"


def breakdown(rows: Iterable[str]) -> str:
    rest = "\n".join(rows)
    return live_range(1, [], [], f"  Stack trace breakdown for peak usage: 48 bytes\n{rest}\n")


NODE = "(33.3%, total: 16 bytes, current: 16 bytes, remaining: 16 bytes)"


def report(rows: Iterable[str]) -> str:
    head = "  cumulative_size;       size;       offset; used_by_n_values; shapes_list"
    return "\n".join(
        ["Memory Space: default (color=0)", "Total bytes: 2048 (2.0KiB)", "",
         "allocation 0: size 1.0KiB, preallocated-temp:", head, "  " + "-" * 60, *rows, ""]
    )  # fmt: skip


def tables(frames: Iterable[str]) -> str:
    head = 'FileNames\n1 "a.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
    place = "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=1}\n"
    rows = "\n".join(frames)
    called = 'negate(%a), metadata={op_name="x" stack_frame_id=1}'
    text = module([row(called), row(called, name="b2")])
    return text.replace("\n\n", f"\n\n{head}{place}\nStackFrames\n{rows}\n\n", 1)


def oom(entries: Iterable[str]) -> str:
    head = (
        "Ran out of memory in memory space hbm. Used 9.00G of 8.00G hbm. "
        "Exceeded hbm capacity by 1.00G.\n\nTotal hbm usage >= 9.00G:\n    program  8.45G\n\n"
        "Largest program allocations in hbm:\n\n"
    )
    return head + "\n".join(entries) + "\n"


def oom_entry(rank: int, label: str = "add") -> str:
    return (
        f'  {rank}. Size: 4.00G\n     Operator: op_name="jit(f)/{label}"\n'
        "     Shape: f32[1024,1048576]{1,0:T(8,128)}\n     Unpadded size: 4.00G\n"
        f"     XLA label: {label}.{rank} = add(x, y)\n     Allocation type: HLO temp\n"
        "     ==========================\n"
    )


def section(number: int) -> str:
    name = f"module_{number:04}.f-buffer-assignment.txt"
    text = "BufferAssignment:\nallocation 0: size 4, constant:\n"
    return f"*** Begin {name} ***\n{text}*** End {name} ***\n"
