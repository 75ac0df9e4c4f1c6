"""Which line of a Python stack owns memory."""

import pytest

from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.source_frames import FrameChoice, is_library_file

_FLAX = SourceLine("/usr/lib/python3.12/site-packages/flax/linen/linear.py", 9)
_HELPER = SourceLine("/home/user/helpers/ops.py", 3)
_MODEL = SourceLine("/home/user/model/train.py", 7)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/opt/venv/lib/python3.11/site-packages/optax/update.py", True),
        ("C:\\Python312\\Lib\\functools.py", True),
        ("/usr/lib/python3.12/functools.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("/home/user/site/train.py", False),
        ("train.py", False),
        ("<ipython-input-1>", False),
    ],
)
def test_library_files_are_recognized(file: str, expected: bool) -> None:
    assert is_library_file(file) is expected


def test_library_frames_are_skipped() -> None:
    assert FrameChoice().line_of([_FLAX, _HELPER, _MODEL]) is _HELPER


def test_all_frames_can_be_chosen() -> None:
    assert FrameChoice(with_libraries=True).line_of([_FLAX, _MODEL]) is _FLAX


def test_frames_of_the_workspace_are_preferred() -> None:
    choice = FrameChoice(("/home/user/model/",))
    assert choice.line_of([_FLAX, _HELPER, _MODEL]) is _MODEL
    assert choice.line_of([_FLAX, _HELPER]) is _HELPER


def test_innermost_frame_remains_without_others() -> None:
    assert FrameChoice().line_of([_FLAX]) is _FLAX
    assert FrameChoice().line_of([]) is None
