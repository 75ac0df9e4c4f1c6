"""Files on disk as `hlo-lsp check` looks at them, in one process."""

from collections.abc import Sequence
from pathlib import Path

from hlo_lsp.checks.config import CheckOptions
from hlo_lsp.checks.folders import FileResult, check_job, plan


def looked_at(paths: Sequence[Path], wishes: CheckOptions | None = None) -> list[FileResult]:
    """What is found in files, and in everything below folders, one compile after the other."""
    jobs = plan(paths, wishes or CheckOptions()).jobs
    return [checked for job in jobs for checked in check_job(job)]
