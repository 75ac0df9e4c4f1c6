"""Helper that checks files on disk as `hlo-lsp check` does, in one process."""

from collections.abc import Sequence
from pathlib import Path

from hlo_lsp.checks.check_jobs import FileResult, check_job, plan
from hlo_lsp.checks.framework.options import CheckOptions


def check_paths(paths: Sequence[Path], options: CheckOptions | None = None) -> list[FileResult]:
    """Check files and everything below folders, one compile after the other."""
    jobs = plan(paths, options or CheckOptions()).jobs
    return [checked for job in jobs for checked in check_job(job)]
