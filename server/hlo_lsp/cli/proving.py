"""The compiler of ``--prove``."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.progress_note import progress_note

if TYPE_CHECKING:
    from hlo_lsp.compiling.compiler_process import CompilerProcess


@contextmanager
def proving_compiler(options: argparse.Namespace) -> "Iterator[CompilerProcess | None]":
    """Yield the process that compiles what is advised, None without ``--prove``.

    Raises:
        CommandError: No Python has jax.
    """
    if not options.prove:
        yield None
        return
    # Late imports, because only this option needs them.
    from hlo_lsp.compiling.compiler_process import CompilerProcess  # noqa: PLC0415
    from hlo_lsp.compiling.errors import CompileFailedError  # noqa: PLC0415
    from hlo_lsp.compiling.pythons import find_python  # noqa: PLC0415

    try:
        python = find_python(options.python)
        with progress_note() as report, CompilerProcess(python, report) as compiler:
            yield compiler
    except CompileFailedError as error:
        raise CommandError(str(error)) from None
