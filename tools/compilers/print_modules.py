"""Print module texts with the jaxlib that is installed beside this Python.

``watch.py`` starts this script in the environment of a release. It parses a text for each opcode,
attribute, and header field, and writes it into the folder of the argument as each print option
prints it. The script needs no other package than jaxlib.
"""

import sys
from pathlib import Path

from jaxlib import _hlo  # type: ignore[attr-defined]

from oracles.instruction_forms import module_texts, print_options


def main() -> None:
    """Write the texts; those that the release cannot parse are left out."""
    output = Path(sys.argv[1])
    options = print_options(_hlo)
    del options["compact operands"]  # which omits some
    for number, text in enumerate(module_texts()):
        try:
            module = _hlo.hlo_module_from_text(text)
        except RuntimeError:
            continue
        for name, option in options.items():
            path = output / f"{number:03} {name}.txt"
            path.write_text(module.to_string(option), "utf-8")


if __name__ == "__main__":
    main()
