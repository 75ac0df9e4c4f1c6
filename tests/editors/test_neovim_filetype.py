"""Tests for the file types of the Neovim client."""

from pathlib import Path

import pytest

from dumps import files_of
from editors.neovim import Neovim
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk
from oom_messages import NAMES, text_of

pytestmark = pytest.mark.editors

DUMPS = {
    "assignment.txt": ("xla_memory", "BufferAssignment:\nallocation 0: size 4, parameter 0:\n"),
    "values.txt": ("xla_memory", "\nTotal bytes used: 8 (8B)\n\nUsed values:\n"),
    "values_alone.txt": ("xla_memory", "Used values:\n<0 p @0>\n"),
    "live.txt": ("xla_memory", "HloLiveRange (max 12):\n  InstructionSequence:\n"),
    "no_live.txt": (
        "xla_memory",
        "HloLiveRange not available (finalized or constructed from proto)\n",
    ),
    "report_spaces.txt": ("xla_memory", "Memory Space: default (color 0)\n"),
    "report_plain.txt": (
        "xla_memory",
        "Total bytes used: 10 (10B)\n\nAllocations sorted by size:\n",
    ),
    "module.txt": ("hlo", "HloModule jit_f, is_scheduled=true\n"),
    "quoted.txt": ("hlo", "HloModule %f\n"),
    "commented.hlo": ("hlo", "// RUN: hlo-opt %s\n\nHloModule m\n"),
    "computation.hlo": ("hlo", "%fused (p: f32[2]) -> f32[2] {\n  %p = f32[2] parameter(0)\n"),
    "entry.hlo": ("hlo", "ENTRY %main.3 (p: f32[]) -> f32[] {\n"),
    "thunks_new.txt": ("xla_thunks", "001: kCopy   [source       | next=002 (1)] kCopy\n"),
    "thunks_later.txt": ("xla_thunks", "012: kGemm   [prev=001 (11) | sink] \n"),
    "thunks_middle.txt": ("xla_thunks", "001: kKernel\t, kernel = f\n"),
    "thunks_old.txt": ("xla_thunks", "kCopy  \t\n"),
    "begun.hlo": ("hlo", ""),
    "draft.hlo": ("hlo", "add {\n  x = f32[] parameter(0)\n"),
    "values.hlo": ("xla_memory", "Used values:\n<0 p @0>\n"),
    "stdout.txt": ("xla_stdout", "*** Begin module_0000.f.before_optimizations.txt ***\n"),
    "stdout.hlo": ("xla_stdout", "I0000 log *** Begin m.txt ***\nHloModule m\n"),
    "stdout_later.txt": ("xla_stdout", "log\n" * 40 + "*** Begin m.txt ***\nHloModule m\n"),
    "oom.txt": ("xla_oom", "step 1\nRan out of memory in memory space hbm. Used 2G of 1G hbm.\n"),
    "oom_gpu.txt": ("xla_oom", "Out of memory while trying to allocate 6291456 bytes.\n"),
    "oom_list.txt": ("xla_oom", "Program hbm requirement 6.75G:\n"),
    "late.log": ("xla_oom", "step\n" * 5000 + "Ran out of memory in memory space hbm.\n"),
    "train.log": ("xla_oom", "Ran out of memory in memory space hbm. Used 2G of 1G hbm.\n"),
    **{f"message_{name}.log": ("xla_oom", text_of(name)) for name in NAMES},
    "m.cl_1.tpu_comp_env.txt": ("xla_flags", "xla_enable_async_all_gather: AUTO\n"),
    "m.debug_options": ("xla_flags", "xla_dump_hlo_as_text: true\n"),
    "m.flagfile": ("xla_flags", "--xla_enable_async_all_gather=auto\n"),
    "m.oom_top_memory_consuming_instructions": ("xla_oom", "Program hbm requirement 6.75G:\n"),
}
OTHERS = {
    "notes.txt": "Read HloModule jit_f and BufferAssignment: first.\n",
    "indented.txt": "  HloModule jit_f\n",
    "total.txt": "Total bytes used: 10 on disk\nFree: 3\n",
    "constants.txt": "kCopy = 3\nkKernel\n",
    "metadata.txt": 'thunk_metadata {\n  thunk_info {\n    profile_annotation: "f"\n',
    "late.txt": "Dear all,\nHloModule jit_f\n",
    "empty.txt": "",
    "blank.txt": "\n\n\n",
    "CMakeLists.txt": "project(HloModule)\n",
    "robots.txt": "User-agent: *\n",
    "manual.txt": "*manual.txt* words\n\n vim:tw=78:ft=help:\n",
    "sections.txt": "*** Begin here\n*** End m.txt ***\n",
    "module.log": "HloModule jit_f\n",
}
SCRIPT = """
    local types = {}
    for _, path in ipairs(paths) do
      vim.cmd.edit(vim.fn.fnameescape(path))
      types[#types + 1] = vim.bo.filetype
    end
    return types
"""


def written(folder: Path, texts: dict[str, str]) -> list[Path]:
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def test_first_lines_determine_file_type(shared_neovim: Neovim, tmp_path: Path) -> None:
    paths = written(tmp_path, {name: text for name, (_, text) in DUMPS.items()})
    found = dict(zip(DUMPS, shared_neovim.run(SCRIPT, paths=paths), strict=True))
    assert found == {name: wanted for name, (wanted, _) in DUMPS.items()}


def test_other_files_keep_their_type(neovim: Neovim, tmp_path: Path) -> None:
    paths = written(tmp_path, OTHERS)
    before = neovim.run(SCRIPT, with_client=False, paths=paths)
    assert dict(zip(OTHERS, before, strict=True))["CMakeLists.txt"] == "cmake"
    assert neovim.run(SCRIPT, paths=paths) == before


@pytest.mark.parametrize("name", ["new.hlo", "written.hlo", "stdout.txt"])
def test_server_starts_for_damaged_dump(shared_neovim: Neovim, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "written.hlo":
        path.write_text("ENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n", "utf-8")
    elif name == "stdout.txt":
        path.write_text("*** Begin m.txt ***\nHloModule m\n\n*** End m.txt ***\n", "utf-8")
    script = "nvim.open(path); return #vim.lsp.get_clients({ bufnr = 0, name = 'hlo_lsp' })"
    assert shared_neovim.run(script, path=path) == 1


@pytest.mark.corpus
def test_client_and_server_agree_on_corpus(shared_neovim: Neovim, corpus_small: Path) -> None:
    types = {kind: "xla_memory" for kind in FileKind if kind.is_memory} | {
        FileKind.MODULE: "hlo",
        FileKind.THUNKS: "xla_thunks",
        FileKind.STDOUT_DUMP: "xla_stdout",
        FileKind.OTHER: "none",
    }
    paths = files_of(corpus_small)
    found = shared_neovim.run(
        """
        local of = require('hlo_lsp.filetype').of
        return vim.tbl_map(function(path)
          return of(vim.fn.readfile(path, '', 60)) or 'none'
        end, vim.fn.glob(folder .. '/*/*', false, true))
        """,
        folder=corpus_small,
    )
    assert len(found) == len(paths) > 2700
    wanted = {path: types[detect_file_kind(disk.read_document(path).lines)] for path in paths}
    assert dict(zip(sorted(paths), found, strict=True)) == wanted
