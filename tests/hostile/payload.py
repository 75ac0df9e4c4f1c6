"""Names with markup and commands of other formats."""

import re

# A quote or a backslash would end the string in the dump. No line of an output begins with BREAK.
PAYLOAD = (
    "\xa0::error title=x::y ##[add-mask]y ##vso[z] **b** <img src=x onerror=alert(1)></script>"
    " ``[l](command:evil)`` [j](javascript:evil) ![i](https://evil) |x|"
    " \x1b[31m\x1b]0;t\x07\x9b1m \u202e \u2066 \u200b \U000e0041 %0A::warning::z $(evil)"
)
# In a string, escapes of XLA add line ends.
STRING_PAYLOAD = (
    f"{PAYLOAD} \\n\\302\\240::error::x\\n# BREAK\\n- BREAK\\r\\n| BREAK |"
    " \\n\\342\\200\\250BREAK `\\n```\\nBREAK"
)
# The payload for file names, which have no slash.
NAME_PAYLOAD = "[x](command:workbench.action.closeAllEditors) <img src=x onerror=alert(1)> $(bug)"
FOLDER_PAYLOAD = f"\xa0::error::x\n\u2003::error::y\n# BREAK\r- BREAK ##[x] {NAME_PAYLOAD}"
# Names from files that do not escape them, such as profiles.
RAW_PAYLOAD = STRING_PAYLOAD.encode().decode("unicode_escape").encode("latin-1").decode()

_FIELDS = "arg_memory_spaces|out_layout_modes|custom_call_target|op_type|scheduling_name"
_TREE_NAME = re.compile(r"^([ │]*(?:[├└]── )?)\S.*( \(\d+\.\d%, total)", re.MULTILINE)


def with_payload(text: str) -> str:
    """Return a dump whose scopes, source files, functions, and other strings are the payload."""
    text = re.sub(r'op_name="[^"]*"', lambda _: f'op_name="{STRING_PAYLOAD}"', text)
    text = re.sub(rf'({_FIELDS})="[^"]*"', lambda match: f'{match[1]}="{STRING_PAYLOAD}"', text)
    text = _TREE_NAME.sub(lambda match: f"{match[1]}{PAYLOAD}{match[2]}", text)
    names = re.compile(r'^(\d+) ".*"$', re.MULTILINE)
    return names.sub(lambda match: f'{match[1]} "/{STRING_PAYLOAD}.py"', text)


def with_unknown_forms(text: str) -> str:
    """Return a dump with the payload where no grammar expects a text."""
    head, end, rest = text.partition("\n")
    if head.startswith("HloModule"):
        head += f', novel="{STRING_PAYLOAD}", other={{{PAYLOAD}}}'
    lines = f"{head}{end}{rest}".split("\n")
    for number in range(len(lines) - 2, 1, -9):
        if " = " in lines[number]:
            lines[number] += f', new_kind={{"{STRING_PAYLOAD}"}}, {PAYLOAD}'
        else:
            lines.insert(number, f"  {PAYLOAD}")
    return "\n".join([*lines, PAYLOAD, f"unknown {{ {PAYLOAD}", ""])
