"""A program that asks to keep values in host memory, before and after optimization."""

STEM = "module_0001.jit_f"
HOST = (
    'custom_call_target="annotate_device_placement", '
    'frontend_attributes={_xla_buffer_placement="pinned_host"}'
)
DEVICE = HOST.replace("pinned_host", "device")
_BEFORE = """\
HloModule jit_f

ENTRY %main (x: f32[256]) -> f32[256] {{
  %x = f32[256] parameter(0)
  %a = f32[256] sine(%x), metadata={{source_file="/home/user/model.py" source_line=7}}
{requests}
}}
"""
_AFTER = """\
HloModule jit_f, is_scheduled=true{attributes}

ENTRY %main (x: f32[256]) -> f32[256] {{
  %x = f32[256]{{0}} parameter(0)
  %a = f32[256]{{0}} sine(%x)
  %part = f32[{size}]{{0}} slice(%a), slice={{[0:{size}]}}
  %s1 = (f32[{size}]{{0:S(5)}}, f32[{size}]{{0}}, u32[]) copy-start(%part)
  ROOT %d = f32[{size}]{{0:S(5)}} copy-done(%s1)
}}
"""
ONE = f"  ROOT %h = f32[256] custom-call(%a), {HOST}"

# Another value of the same size, without a Python line.
TWO = f"""\
{ONE.replace("ROOT ", "")}
  %b = f32[256] cosine(%x)
  %h2 = f32[256] custom-call(%b), {HOST}
  ROOT %t = (f32[256], f32[256]) tuple(%h, %h2)"""


def texts(requests: str, *, size: int = 256, attributes: str = "") -> tuple[str, str]:
    """Return the module text before optimization with these requests, and that after it."""
    return _BEFORE.format(requests=requests), _AFTER.format(size=size, attributes=attributes)
