"""Text that is markup or a command elsewhere."""

import re

# Not in a dump: a quote and a backslash, which would end or escape the string that it is in.
PAYLOAD = (
    "::error::x ##[add-mask]y ##vso[z] **b** <img src=x onerror=alert(1)></script>"
    " ``[l](command:evil)`` [j](javascript:evil) ![i](https://evil)"
    " \x1b[31m\x1b]0;t\x07\x9b1m \u202e \u2066 %0A::warning::z $(evil)"
)
# The same in the name of a file, which has no slash.
NAME = "[x](command:workbench.action.closeAllEditors) <img src=x onerror=alert(1)> $(bug)"


def with_payload(text: str) -> str:
    """Return a dump whose scopes and source files are the payload."""
    text = re.sub(r'op_name="[^"]*"', lambda _: f'op_name="{PAYLOAD}"', text)
    return re.sub(r'^(\d+) ".*"$', rf'\1 "/{PAYLOAD}.py"', text, flags=re.MULTILINE)
