"""Tests for the documented major mode of Emacs."""

from pathlib import Path

import pytest

from dumps import kind_by_name
from editors.conftest import Compile
from editors.emacs_batch import Emacs, documented_lisp
from hlo_lsp.syntax.file_kinds import FileKind

pytestmark = pytest.mark.editors

# eglot would ask what to do about an unknown file, and nothing answers in batch mode.
MODES = """
    (remove-hook 'hlo-mode-hook #'eglot-ensure)
    (cl-loop for name in (directory-files folder nil "\\\\(txt\\\\|hlo\\\\)\\\\'")
             collect (cons (intern name)
                           (with-current-buffer (find-file-noselect (expand-file-name name folder))
                             (symbol-name major-mode))))
"""


@pytest.fixture
def emacs(tmp_path: Path) -> Emacs:
    return Emacs("eglot", tmp_path)


def test_all_files_of_compile_have_mode(emacs: Emacs, own: Compile) -> None:
    modes = emacs.run(MODES, folder=own.folder)
    known = [path.name for path in own.folder.iterdir() if kind_by_name(path) is not FileKind.OTHER]
    assert len(known) > 4
    assert {name: modes[name] for name in known} == dict.fromkeys(known, "hlo-mode")


def test_other_files_do_not_have_mode(emacs: Emacs, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "begun.hlo").write_text("")
    (folder / "notes.txt").write_text("Read HloModule jit_f and BufferAssignment: first.\n")
    assert emacs.run(MODES, folder=folder) == {"begun.hlo": "hlo-mode", "notes.txt": "text-mode"}


def test_server_gets_settings_of_eglot(emacs: Emacs, compile_v5e: Compile, tmp_path: Path) -> None:
    python = tmp_path / "models" / "programs.py"  # in what is Emacs' home
    python.parent.mkdir()
    python.write_text("")
    script = """
        (hlo-test-open path)
        (hlo-test-wait "a server" #'eglot-current-server)
        (cl-map 'vector (lambda (link) (plist-get link :target))
                (jsonrpc-request (eglot-current-server) :textDocument/documentLink
                                 (list :textDocument (eglot--TextDocumentIdentifier))
                                 :timeout hlo-test-patience))
    """
    path = compile_v5e.path("")
    assert emacs.run(script, path=path) == []
    targets = emacs.run(documented_lisp("eglot")[1] + script, path=path)
    assert {target.partition("#")[0] for target in targets} == {python.as_uri()}
