"""Tests for the documented set-up of lsp-mode in Emacs."""

from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.emacs_batch import Emacs, documented_lisp

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"
OPEN = """
    (setq lsp-session-file (expand-file-name "session" "~") lsp-keep-workspace-alive nil)
    (lsp-workspace-folders-add (file-name-directory path)) ; or it would ask for the project
    (hlo-test-open path)
    (lsp--init-if-visible) ; what `lsp-deferred' put off
    (hlo-test-wait "a server"
      (lambda () (cl-some (lambda (each) (eq 'initialized (lsp--workspace-status each)))
                          (lsp-workspaces))))
"""


@pytest.fixture
def emacs(tmp_path: Path) -> Emacs:
    return Emacs("lsp-mode", tmp_path)


def test_hover_shows_value(emacs: Emacs, compile_v5e: Compile) -> None:
    shown = emacs.run(
        OPEN
        + """
        (hlo-test-go "copy-start.1{0}")
        (gethash "value" (gethash "contents"
          (lsp-request "textDocument/hover" (lsp--text-document-position-params))))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert (
        shown.splitlines()[0]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general"
    )


def test_server_gets_documented_settings(emacs: Emacs, compile_v5e: Compile) -> None:
    path = compile_v5e.path(ASSIGNMENT)
    damaged = (
        OPEN
        + """
        (hlo-test-line 6)
        (search-forward "size=1048576")
        (replace-match "size=1048575")
        (defun fixes ()
          (cl-count-if
           (lambda (action) (string-prefix-p "Change to " (gethash "title" action)))
           (lsp-request "textDocument/codeAction"
                        (list :textDocument (lsp--text-document-identifier)
                              :range (lsp--region-to-range (line-beginning-position)
                                                           (line-end-position))
                              :context (list :diagnostics [])))))
        """
    )
    assert emacs.run(damaged + "(fixes)", path=path) == 1
    ignoring = documented_lisp("lsp-mode")[1].replace("padding-waste", "size-mismatch")
    script = ignoring + damaged + '(hlo-test-wait "none" (lambda () (zerop (fixes)))) (fixes)'
    assert emacs.run(script, path=path) == 0


def test_lenses_are_at_line_ends(emacs: Emacs, compile_v5e: Compile) -> None:
    lenses = emacs.run(
        OPEN
        + """
        (lsp-lens-show)
        (apply #'vector
               (cl-loop for overlay in (overlays-in (point-min) (point-max))
                        for text = (overlay-get overlay 'after-string)
                        for place = (overlay-get overlay 'lsp-lens-position)
                        when (and text (overlay-get overlay 'lsp-lens))
                        collect (vector (line-number-at-pos place)
                                        (string-trim (substring-no-properties text)))))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    shown = dict(lenses)
    assert shown[54] == "25 values, 384.5 KiB, 10 at the peak"
    assert (
        shown[6]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general "
        "→ tuple.7"
    )
    assert 3 not in shown  # a small value


def test_server_ends_on_shutdown(emacs: Emacs, compile_v5e: Compile) -> None:
    left = emacs.run(
        OPEN
        + """
        (let ((process (lsp--workspace-proc (car (lsp-workspaces)))))
          (lsp-workspace-shutdown (car (lsp-workspaces)))
          (hlo-test-wait "its end" (lambda () (not (process-live-p process))))
          ;; lsp-mode hears of the end later.
          (hlo-test-wait "no workspace" (lambda () (not (lsp-workspaces))))
          (length (lsp-workspaces)))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert left == 0
