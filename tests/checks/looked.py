"""Files on disk as `hlo-lsp check` looks at them, in one process."""

from collections.abc import Sequence
from pathlib import Path

from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.checks.folders.folder import FileResult, check_job
from hlo_lsp.checks.folders.jobs import plan


def looked_at(paths: Sequence[Path], wishes: CheckOptions | None = None) -> list[FileResult]:
    """What is found in files, and in everything below folders, one compile after the other."""
    jobs = plan(paths, wishes or CheckOptions()).jobs
    return [checked for job in jobs for checked in check_job(job)]
