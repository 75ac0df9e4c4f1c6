"""Module texts with a collective that runs asynchronously, in the forms of XLA for TPU."""

_TEMPLATE = """\
HloModule m, is_scheduled=true, num_partitions=2

%add (l: f32[], r: f32[]) -> f32[] {{
  %l = f32[]{{:T(128)}} parameter(0)
  %r = f32[]{{:T(128)}} parameter(1)
  ROOT %sum = f32[]{{:T(128)}} add(%l, %r)
}}

{called}%async_computation (q: f32[512,128]) -> f32[{rows},128] {{
  %q = f32[512,128]{{1,0:T(8,128)}} parameter(0)
  ROOT %inner = f32[{rows},128]{{1,0:T(8,128)}} {inner}
}}

ENTRY %main (x: f32[512,128]) -> (f32[512,128], f32[512,128], f32[{rows},128]) {{
  %x = f32[512,128]{{1,0:T(8,128)}} parameter(0)
  %start = {start}
  %before = f32[512,128]{{1,0:T(8,128)}} sine(%x)
{update}  %meanwhile = f32[512,128]{{1,0:T(8,128)}} cosine(%x)
  %done = f32[{rows},128]{{1,0:T(8,128)}} async-done({last})
  ROOT %r = (f32[512,128]{{1,0:T(8,128)}}, f32[512,128]{{1,0:T(8,128)}}, f32[{rows},128]{{1,0:T(8,128)}}) tuple(%before, %meanwhile, %done)
}}
"""  # noqa: E501
_CALLED = """\
%called_computation (p: f32[512,128]) -> f32[{rows},128] {{
  %p = f32[512,128]{{1,0:T(8,128)}} parameter(0)
  %t = (f32[512,128]{{1,0:T(8,128)}}) tuple(%p)
  %e = f32[512,128]{{1,0:T(8,128)}} get-tuple-element(%t), index=0
  ROOT %run = f32[{rows},128]{{1,0:T(8,128)}} {operation}
}}

"""
_GROUPS = "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}"
_ROWS = {"all-gather": 1024, "reduce-scatter": 256}
COLLECTIVES = tuple(_ROWS)

CUSTOM_CALL = 'custom-call(%q), custom_call_target="x", called_computations={%called_computation}'
"""The call of newer versions of libtpu."""
CALL = "call(%q), to_apply=%called_computation"
"""The call of older versions of libtpu."""


def direct_text(opcode: str) -> str:
    """Return a text in which the collective is the root of the asynchronous computation."""
    return _text(opcode, _operation(opcode, "%q"), "", updates=False)


def offloaded_text(opcode: str, call: str = CUSTOM_CALL) -> str:
    """Return a text in which a call runs the collective, and an update passes its operand."""
    called = _CALLED.format(rows=_ROWS[opcode], operation=_operation(opcode, "%e"))
    return _text(opcode, call, called, updates=True)


def _operation(opcode: str, operand: str) -> str:
    reducer = ", to_apply=%add" if opcode == "reduce-scatter" else ""
    return f"{opcode}({operand}), {_GROUPS}{reducer}"


def _text(opcode: str, inner: str, called: str, *, updates: bool) -> str:
    array, rows = "f32[512,128]{1,0:T(8,128)}", _ROWS[opcode]
    started = f"(({array}), f32[{rows},128]{{1,0:T(8,128)}}, s32[])"
    calls = 'async_execution_thread="sparsecore", calls=%async_computation'
    return _TEMPLATE.format(
        rows=rows,
        inner=inner,
        called=called,
        start=f"((), (), s32[]) async-start(), {calls}"
        if updates
        else f"{started} async-start(%x), {calls}",
        update=f"  %update = {started} async-update(%start, %x)\n" if updates else "",
        last="%update" if updates else "%start",
    )
