"""What a code means, in words: the files in ``codes/``."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = "hlo_lsp.checks.codes"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code says, why that always holds, where the rule is from, and an example.

    ``remedy`` is what to do about a finding; empty where a damaged dump is all that it can mean.
    ``is_on`` is whether the rules of this code run unless they are asked for.
    """

    code: str
    what: str
    why: str
    source: str
    example: str
    remedy: str = ""
    is_on: bool = True


@cache
def explanations() -> Mapping[str, Explanation]:
    """All codes in the order of the files and of their text.

    Raises:
        TypeError: an entry lacks a key or has an unknown one.
        ValueError: a code is explained twice.
    """
    found: dict[str, Explanation] = {}
    texts = sorted(
        (file for file in files(_FOLDER).iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    for text in texts:
        for code, entry in tomllib.loads(text.read_text("utf-8")).items():
            if code in found:
                raise ValueError(f"{text.name}: {code} is explained twice")
            found[code] = Explanation(code, **entry)
    return found
