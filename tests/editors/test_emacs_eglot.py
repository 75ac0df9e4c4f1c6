"""Tests for the documented set-up of eglot in Emacs."""

from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.emacs_batch import Emacs

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"
OPEN = """
    (hlo-test-open path)
    (hlo-test-wait "a server" #'eglot-current-server)
"""


@pytest.fixture
def emacs(tmp_path: Path) -> Emacs:
    return Emacs("eglot", tmp_path)


def test_hover_shows_value(emacs: Emacs, compile_v5e: Compile) -> None:
    shown = emacs.run(
        OPEN
        + """
        (hlo-test-go "copy-start.1{0}")
        (let (card)
          (eglot-hover-eldoc-function (lambda (text &rest _) (setq card text)))
          (substring-no-properties (hlo-test-wait "a card" (lambda () card))))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert (
        shown.splitlines()[0]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general"
    )
    assert "1,048,576 B (1.00 MiB)" in shown


def test_wrong_size_is_reported_until_fixed(emacs: Emacs, compile_v5e: Compile) -> None:
    number, text, left = emacs.run(
        OPEN
        + """
        (flymake-start)
        (defun edit (old new)
          (hlo-test-line 6)
          (search-forward old)
          (replace-match new t t)
          (eglot--signal-textDocument/didChange)) ; what a timer does while the user is idle
        (edit "size=1048576" "size=1048575")
        (let ((found (hlo-test-wait "a finding" #'flymake-diagnostics)))
          (edit "size=1048575" "size=1048576")
          (hlo-test-wait "silence" (lambda () (null (flymake-diagnostics))))
          (vector (line-number-at-pos (flymake-diagnostic-beg (car found)))
                  (flymake-diagnostic-text (car found))
                  (length (flymake-diagnostics))))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert (number, left) == (6, 0)
    assert "size is 1,048,575 B, but the shape takes 1,048,576 B" in text


def test_server_ends_on_shutdown(emacs: Emacs, compile_v5e: Compile) -> None:
    managed = emacs.run(
        OPEN
        + """
        (let* ((server (eglot-current-server)) (process (jsonrpc--process server)))
          (eglot-shutdown server nil hlo-test-patience) ; an error if it does not answer
          (hlo-test-wait "its end" (lambda () (not (process-live-p process))))
          (if (eglot-managed-p) "yes" "no"))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert managed == "no"
