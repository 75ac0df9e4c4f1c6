#!/usr/bin/env python3
"""Make the files for package indexes and editors from the templates beside this file.

The version, the description, the license, and the requirements are those of pyproject.toml and of
the package. Only Python's standard library is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
_PLACEHOLDER = re.compile(r"@([a-z_0-9]+)@")
_RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)]+)\)")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<versions>[^;]*)(?:;\s*(?P<marker>.*))?")


def version() -> str:
    """Return the version of the package."""
    text = (ROOT / "server" / "hlo_lsp" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def values(repository: str, sdist: Path) -> dict[str, str]:
    """Return the value of each placeholder.

    Args:
        repository: The address of the repository, such as ``https://github.com/OWNER/hlo-lsp``.
        sdist: The source distribution.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        "version": version(),
        "description": project["description"],
        "license": project["license"],
        "python_min": project["requires-python"].removeprefix(">="),
        "requirements": "\n".join(_conda_requirements(project["dependencies"])),
        "mcp_requirement": project["optional-dependencies"]["mcp"][0],
        "repository": repository,
        "owner": _owner(repository),
        "mcp_name": mcp_name(repository),
        "sdist": sdist.name,
        "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
    }


def _owner(repository: str) -> str:
    return repository.rstrip("/").split("/")[-2]


def mcp_name(repository: str) -> str:
    """Return the name in the MCP registry, which the account of the repository may use."""
    return f"io.github.{_owner(repository)}/hlo-lsp"


def _conda_requirements(requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        found = _REQUIREMENT.fullmatch(requirement)
        assert found is not None
        line = f"{found['name']} {found['versions'].strip()}".strip()
        # The package is for all versions of Python, so the few with a marker are required by all.
        yield f"    - {line}"


def render(text: str, known: Mapping[str, str]) -> str:
    """Return a template with its values.

    Raises:
        KeyError: There is no value for a placeholder.
    """
    return _PLACEHOLDER.sub(lambda found: known[found[1]], text)


def templates() -> list[Path]:
    """Return the templates."""
    files = (path for path in FOLDER.rglob("*") if path.is_file() and path.parent != FOLDER)
    return sorted(path for path in files if "__pycache__" not in path.parts)


def published_readme(text: str, repository: str) -> str:
    """Return a README for package indexes.

    They show it without the repository, so its links and pictures are absolute. The MCP registry
    looks for its name in it.
    """

    def absolute(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}{found[2]}({repository}/{kind}/v{version()}/{found[3]})"

    return f"{_RELATIVE_LINK.sub(absolute, text)}\n<!-- mcp-name: {mcp_name(repository)} -->\n"


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repository", required=True, help="the address of the repository")
    parser.add_argument("--sdist", type=Path, help="the source distribution")
    parser.add_argument("-o", "--output", type=Path, help="the folder for the files")
    parser.add_argument("--readme", type=Path, help="a README to replace by the published one")
    options = parser.parse_args()
    if options.readme is not None:
        text = options.readme.read_text("utf-8")
        options.readme.write_text(published_readme(text, options.repository), "utf-8")
    if options.output is not None:
        if options.sdist is None:
            parser.error("--output needs --sdist")
        known = values(options.repository, options.sdist)
        for template in templates():
            target = options.output / template.relative_to(FOLDER)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(render(template.read_text("utf-8"), known), "utf-8")


if __name__ == "__main__":
    main()
