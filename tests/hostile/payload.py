"""Names with markup and commands of other formats."""

import re

# A quote or a backslash would end the string in the dump.
PAYLOAD = (
    "::error::x ##[add-mask]y ##vso[z] **b** <img src=x onerror=alert(1)></script>"
    " ``[l](command:evil)`` [j](javascript:evil) ![i](https://evil)"
    " \x1b[31m\x1b]0;t\x07\x9b1m \u202e \u2066 %0A::warning::z $(evil)"
)
# The payload for file names, which have no slash.
NAME_PAYLOAD = "[x](command:workbench.action.closeAllEditors) <img src=x onerror=alert(1)> $(bug)"


def with_payload(text: str) -> str:
    """Return a dump whose scopes and source files are the payload."""
    text = re.sub(r'op_name="[^"]*"', lambda _: f'op_name="{PAYLOAD}"', text)
    return re.sub(r'^(\d+) ".*"$', rf'\1 "/{PAYLOAD}.py"', text, flags=re.MULTILINE)
