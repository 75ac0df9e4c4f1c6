"""Helper that returns the advice on handwritten compiles."""

from dataclasses import replace
from typing import Any

from checks.damage import Report, report_of
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.options import Limits
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

TPU = "module_0001.jit_f.cl_1.after_optimizations"
GPU = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations"
BEFORE = "module_0001.jit_f.before_optimizations.txt"


def advice(
    code: str, *texts: str, stem: str = TPU, before: str | None = None, **limits: Any
) -> list[Report]:
    """Return the findings of a rule on a compile with these texts.

    Args:
        code: code of the rule.
        texts: texts of the files.
        stem: start of the file names.
        before: module text before optimizations.
        limits: thresholds that replace the defaults.
    """
    files = [DumpFile.of_text(text, f"{stem}-{number}.txt") for number, text in enumerate(texts)]
    others = [] if before is None else [DumpFile.of_text(before, BEFORE)]
    dump = Compile(files, others=others)
    rules = [rule for rule in CATALOGUE if rule.code == code]
    thresholds = replace(Limits(), **limits)
    return [report_of(found) for file in files for found in check(dump, file, rules, thresholds)]
