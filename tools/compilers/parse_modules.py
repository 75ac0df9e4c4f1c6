"""Parse module texts with the parser of the jaxlib that is installed beside this Python.

``comparisons.py`` starts this script in the environment of a release. Each line of standard input
is the path of a module text, and each line of standard output is the JSON of the result: the path,
and either the error or the name of a file in the folder of the argument with the module as a
serialized HloModuleProto. The script needs no other package than jaxlib.
"""

import json
import sys
from pathlib import Path

from jaxlib import _hlo  # type: ignore[attr-defined]

from oracles.libtpu_syntax import remove_libtpu_syntax


def main() -> None:
    """Parse the modules of standard input."""
    output = Path(sys.argv[1])
    for number, line in enumerate(sys.stdin):
        path = Path(line.rstrip("\n"))
        text = remove_libtpu_syntax(path.read_bytes().decode()).text
        found = {"path": str(path), "error": "", "proto": f"{number}.pb"}
        try:
            module = _hlo.hlo_module_from_text(text)
        except RuntimeError as error:
            found["error"] = str(error)
        else:
            (output / found["proto"]).write_bytes(module.as_serialized_hlo_module_proto())
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
