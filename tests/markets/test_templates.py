"""The files for package indexes and editors, as ``packaging/make.py`` makes them."""

import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.pages import DOCS, blocks
from hlo_lsp import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

jsonschema = import_module("jsonschema")  # It has no types.
ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/owner/hlo-lsp"
MAKE: list[str | Path] = [
    sys.executable,
    ROOT / "packaging" / "make.py",
    "--repository",
    REPOSITORY,
]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTENSION: dict[str, Any] = json.loads((ROOT / "vscode-client" / "package.json").read_text("utf-8"))
Read = Callable[[str], str]

# The parts of https://github.com/mason-org/registry-schema that apply to a package of PyPI.
MASON_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "name", "description", "homepage", "licenses", "languages", "categories", "source",
    ],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "homepage": {"type": "string", "pattern": "^https?://"},
        "licenses": {"type": "array", "minItems": 1, "items": {"const": "Apache-2.0"}},
        "languages": {"type": "array", "items": {"type": "string"}},
        "categories": {
            "type": "array",
            "items": {"enum": ["Compiler", "DAP", "Formatter", "LSP", "Linter", "Runtime"]},
        },
        "source": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "string", "pattern": "^pkg:pypi/.+@.+"}},
        },
        "bin": {"type": "object", "additionalProperties": {"pattern": r"^pypi:[\w.-]+$"}},
        "neovim": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"lspconfig": {"type": "string"}},
        },
    },
}  # fmt: skip

# The parts of the schema of the MCP registry that apply to a package of PyPI on standard input.
_ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"enum": ["positional", "named"]}, "value": {"type": "string"}},
    "if": {"properties": {"type": {"const": "named"}}},
    "then": {"required": ["name"]},
    "else": {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]},
}
MCP_SCHEMA = {
    "type": "object",
    "required": ["name", "description", "version", "packages"],
    "properties": {
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"minLength": 1, "maxLength": 100},
        "description": {"minLength": 1, "maxLength": 100},
        "version": {"pattern": r"^\d+\.\d+\.\d+"},
        "repository": {"type": "object", "required": ["url", "source"]},
        "packages": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": {"type": "string"},
                    "version": {"pattern": r"^\d+\.\d+\.\d+"},
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "runtimeArguments": {"type": "array", "items": _ARGUMENT},
                    "packageArguments": {"type": "array", "items": _ARGUMENT},
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Return a function that returns the text of a file."""
    folder = tmp_path_factory.mktemp("markets")
    sdist = folder / f"hlo_lsp-{__version__}.tar.gz"
    sdist.write_bytes(b"")
    subprocess.run([*MAKE, "--sdist", sdist, "-o", folder / "made"], check=True)

    def text(name: str) -> str:
        return (folder / "made" / name).read_text("utf-8")

    return text


def test_mason_package_matches_the_schema(made: Read) -> None:
    package = yaml.safe_load(made("mason/package.yaml"))
    jsonschema.validate(package, MASON_SCHEMA)
    assert package["source"]["id"] == f"pkg:pypi/{PROJECT['name']}@{__version__}"
    assert package["bin"] == {name: f"pypi:{name}" for name in PROJECT["scripts"]}
    assert package["licenses"] == [PROJECT["license"]]


def test_mcp_server_matches_the_schema(made: Read) -> None:
    server = json.loads(made("mcp-registry/server.json"))
    jsonschema.validate(server, MCP_SCHEMA)
    (package,) = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert server["name"] == "io.github.owner/hlo-lsp"
    assert [one["value"] for one in package["runtimeArguments"]] == [
        *PROJECT["optional-dependencies"]["mcp"]
    ]


def test_lspconfig_has_the_file_types_of_the_plugin(made: Read) -> None:
    client = (ROOT / "nvim-client" / "lsp" / "hlo_lsp.lua").read_text("utf-8")
    for setting in ("cmd", "filetypes"):
        (line,) = re.findall(rf"^  {setting} = .*$", client, re.MULTILINE)
        assert line in made("nvim-lspconfig/lsp/hlo_lsp.lua")
    assert "require(" not in made("nvim-lspconfig/lsp/hlo_lsp.lua")


def test_zed_extension_starts_the_command(made: Read) -> None:
    extension = tomllib.loads(made("zed/extension.toml"))
    cargo = tomllib.loads(made("zed/Cargo.toml"))
    assert extension["version"] == cargo["package"]["version"] == __version__
    assert extension["id"] == cargo["package"]["name"]
    assert extension["repository"] == REPOSITORY
    assert list(extension["language_servers"]) == [*PROJECT["scripts"]]
    assert cargo["lib"]["crate-type"] == ["cdylib"]
    assert 'worktree.which("hlo-lsp")' in made("zed/src/lib.rs")


def test_helix_opens_dumps_by_name(made: Read, corpus_small: Path) -> None:
    languages = tomllib.loads(made("helix/languages.toml"))
    (language,) = languages["language"]
    (server,) = language["language-servers"]
    assert languages["language-server"][server]["command"] in PROJECT["scripts"]
    globs = [one["glob"] for one in language["file-types"] if isinstance(one, dict)]
    texts = [path.name for path in corpus_small.rglob("*_optimizations*.txt")]
    assert texts
    assert all(any(fnmatch(name, glob) for glob in globs) for name in texts)


def test_sublime_settings_start_the_command(made: Read) -> None:
    (client,) = json.loads(made("sublime/LSP.sublime-settings"))["clients"].values()
    assert client["command"] == [*PROJECT["scripts"]]


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("helix/languages.toml", "languages.toml"),
        ("sublime/LSP.sublime-settings", "LSP.sublime-settings"),
        ("zed/src/lib.rs", "lib.rs"),
    ],
)
def test_editors_page_shows_the_same_file(made: Read, name: str, caption: str) -> None:
    shown = [
        block.text
        for block in blocks(DOCS / "editors.md")
        if block.caption is not None and Path(block.caption).name == caption
    ]
    assert shown == [made(name)]


def test_homebrew_formula_has_the_archive(made: Read) -> None:
    formula = made("homebrew/hlo-lsp.rb")
    assert formula.startswith("class HloLsp < Formula\n")
    assert f"/hlo_lsp-{__version__}.tar.gz" in formula
    assert re.search(r'^  sha256 "[0-9a-f]{64}"$', formula, re.MULTILINE)
    assert f'license "{PROJECT["license"]}"' in formula
    assert len(re.findall(r"^ *(?:class|def|test do)\b", formula, re.MULTILINE)) == len(
        re.findall(r"^ *end$", formula, re.MULTILINE)
    )


def test_conda_recipe_has_the_requirements(made: Read) -> None:
    recipe = yaml.safe_load(made("conda-forge/recipe.yaml"))
    assert recipe["context"]["version"] == __version__
    assert re.fullmatch("[0-9a-f]{64}", recipe["source"]["sha256"])
    required = {line.split()[0] for line in recipe["requirements"]["run"]}
    assert required == {"python", *(_name(line) for line in PROJECT["dependencies"])}
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {place}" for name, place in PROJECT["scripts"].items()
    ]


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return found[0]


def test_published_readme_has_absolute_links(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_bytes((ROOT / "README.md").read_bytes())
    subprocess.run([*MAKE, "--readme", readme], check=True)
    text = readme.read_text("utf-8")
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)#][^)]*)\)", text)
    assert links
    assert [link for _, link in links if not link.startswith("https://")] == []
    assert all(f"/raw/v{__version__}/" in link for mark, link in links if mark)
    assert "<!-- mcp-name: io.github.owner/hlo-lsp -->" in text


def test_extension_has_what_its_markets_require() -> None:
    assert EXTENSION["version"] == __version__
    assert EXTENSION["license"] == PROJECT["license"]
    assert re.fullmatch("[a-z0-9][a-z0-9-]*", EXTENSION["publisher"])
    assert {"name", "displayName", "description", "categories", "engines"} <= EXTENSION.keys()
    assert len(EXTENSION["keywords"]) <= 30
    icon = (ROOT / "vscode-client" / EXTENSION["icon"]).read_bytes()
    assert icon.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", icon[16:24])
    assert min(width, height) >= 128
    page = (ROOT / "vscode-client" / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]*)\)|<img[^>]*src=\"([^\"]*)", page)
    assert all(one.startswith(("https://", "#")) for pair in links for one in pair if one)


def test_release_makes_these_files() -> None:
    steps = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "packaging/make.py" in steps
    assert "--readme README.md" in steps
