"""Tests for updates of the extension."""

import zipfile
from pathlib import Path

from editors.client import VSIX
from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT
from editors.vscode.host import Spot, hover, spot
from editors.vscode.marks import vscode
from editors.vscode.processes import command, server
from editors.vscode.pythons import plain_python
from editors.vscode.serving import CodeServer
from editors.vscode.waiting import until
from editors.vscode.window import Window
from hlo_lsp import __version__

pytestmark = vscode(2)
NEWER = "99.0.0"


def newer(vsix: Path) -> Path:
    """Write the package again with another version of the extension and of the server in it."""
    changes = {
        "extension.vsixmanifest": f'Version="{__version__}"',
        "extension/package.json": f'"version": "{__version__}"',
        "extension/bundled/libs/hlo_lsp/__init__.py": f'__version__ = "{__version__}"',
    }
    with zipfile.ZipFile(VSIX) as old, zipfile.ZipFile(vsix, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name in changes:
                before = changes[name].encode()
                assert content.count(before) == 1, name
                content = content.replace(
                    before, before.replace(__version__.encode(), NEWER.encode())
                )
            new.writestr(name, content)
    return vsix


async def test_reloaded_window_starts_server_of_update(
    plain_server: CodeServer,
    plain_window: Window,
    pythons: tuple[Path, Path],
    dump: Compile,
    tmp_path: Path,
) -> None:
    plain_python(pythons[0])
    at = spot(dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    await plain_window.open(at)
    await plain_window.host.command("hlo.restartServer")
    await show_version(plain_window, at, __version__)
    # It stays for later tests, for which its version does not matter.
    await plain_server.install([newer(tmp_path / "newer.vsix")])
    await plain_window.reload()
    await show_version(plain_window, at, NEWER)


async def show_version(window: Window, at: Spot, version: str) -> None:
    """Check that the server comes with the extension of a version, and reports the same version."""
    await window.open(at)
    await until(lambda: hover(window.host, at))
    extension = await window.host.ask("extension", "hlo-lsp.hlo-lsp")
    assert Path(extension["path"]).name.startswith(f"hlo-lsp.hlo-lsp-{version}")
    (script,) = (each for each in command(await server(window)) if each.endswith(".py"))
    assert Path(script).is_relative_to(extension["path"])
    await window.page.locator("[id='status.languageStatus']").hover()
    await until(
        window.shown(".hover-language-status"),
        lambda texts: any(f"hlo-lsp {version}" in each for each in texts),
    )
