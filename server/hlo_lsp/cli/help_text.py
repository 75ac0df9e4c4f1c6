"""The help of the program, and the form of the help of its commands."""

import argparse
import textwrap
from collections.abc import Iterable
from typing import Any

SHORT_HELP = """\
Read the dumps of XLA: where memory and time go, and what a change did to them.

  hlo-lsp PATH             what is in a dump, a folder, a log, or a profile
  hlo-lsp BEFORE AFTER     what changed between two compiles or folders
  hlo-lsp run -- PROGRAM   run a program, and show its memory

Memory     summary   peaks, owners, advice; --values, --donation, --padding
           find      the buffers of a name, Python line, shape, or scope
           inspect   why a buffer is alive, and what an instruction costs
           oom       what an out-of-memory message means
Time       cost      FLOPs, bytes, least time; --collectives
           profile   the measured time of programs
Changes    diff      two compiles or folders; --max-growth 2%
           modules   compiles by peak, and what differs; --hosts
           history   what each pass changed
           compile   what another flag, chip, or jax would change
Share, CI  report    a page, or a profile for pprof, Perfetto, speedscope
           check     inconsistencies, advice, and limits; --budget peak=15GiB
More       text      protos and archives as text, copies of remote folders
           serve     the language server (without a terminal: the default)
           mcp       the commands as tools for coding agents

hlo-lsp COMMAND --help: its options, such as --format json and -o FILE
hlo-lsp help --all: everything
"""
EXAMPLES = {
    "summary": (
        ("hlo-lsp summary DUMPS", "peak of HBM 206.77 MiB at step 208 of 677"),
        ("hlo-lsp summary DUMPS --donation", "donated, used by an output: 13 arguments, 20.00 MiB"),
    ),
    "find": (
        ("hlo-lsp find train.py:35 DUMPS", "jit_train_step: 33 buffers, 76.00 MiB of 206.77 MiB"),
        ("hlo-lsp find 'bf16[8192,512]' DUMPS", "jit_train_step: 8 buffers, 16.00 MiB"),
    ),
    "inspect": (
        (
            "hlo-lsp inspect DUMPS 'fusion.142{1}'",
            "67,108,864 B (64.00 MiB) in VMEM, steps 196-208 of 677",
        ),
        ("hlo-lsp inspect DUMP.txt 300:1", "computation async_computation.63"),
    ),
    "oom": (
        ("hlo-lsp oom LOG DUMPS", "jit_train_step: not enough HBM, needs 15.75 GiB"),
        ("python train.py 2>&1 | hlo-lsp oom - DUMPS", "peak of HBM, 15.74 GiB at step 18:"),
    ),
    "cost": (
        ("hlo-lsp cost DUMPS --chip v5e", "jit_train_step: 286 GFLOP"),
        ("hlo-lsp cost DUMPS --collectives", "jit_train_step: 154 asynchronous operations"),
    ),
    "profile": (
        ("hlo-lsp profile PROFILE", "jit_train_step · 3 runs on CPU 0 · median 395 µs"),
        ("hlo-lsp profile AFTER --compare BEFORE", "jit_train_step · median 395 µs → 392 µs"),
    ),
    "diff": (
        ("hlo-lsp diff BEFORE AFTER", "jit_train_step: no differences"),
        ("hlo-lsp diff BEFORE AFTER --max-growth 2%", "hlo-lsp: --max-growth 2%: not exceeded"),
    ),
    "modules": (
        ("hlo-lsp modules DUMPS", "206.77 MiB HBM peak  jit_train_step · 1,914 instructions"),
        ("hlo-lsp modules --hosts PODS", "2 hosts · 1 module"),
    ),
    "history": (
        ("hlo-lsp history DUMPS", "before optimizations: 419 instructions"),
        ("hlo-lsp history DUMPS fusion.98", "after optimizations: created: bf16[512,512]"),
    ),
    "compile": (
        ("hlo-lsp compile DUMPS", "jit_train_step: no differences"),
        ("hlo-lsp compile DUMPS --donate", "jit_train_step: HBM peak -144.00 MiB"),
    ),
    "run": (
        ("hlo-lsp run -- python train.py", "hlo-lsp: dumps are in hlo-dumps"),
        ("hlo-lsp run -o after -- python train.py", "hlo-lsp: dumps are in after"),
    ),
    "report": (
        ("hlo-lsp report DUMPS", "memory-map.html: 1 memory map"),
        ("hlo-lsp report DUMPS -o peak.pb.gz", "peak.pb.gz: 2.4 KiB"),
    ),
    "check": (
        ("hlo-lsp check DUMPS", "3 pieces of advice in 2 of 6 files"),
        ("hlo-lsp check DUMPS --budget peak=200MiB", "1 problem and 3 pieces of advice in 2 of 6"),
    ),
    "text": (
        ("hlo-lsp text MODULE.hlo.pb", "HloModule jit_train_step"),
        ("hlo-lsp text -o DIR gs://BUCKET/DUMPS", "6 files copied, 0 already there"),
    ),
    "serve": (
        ("hlo-lsp serve", ""),
        ("hlo-lsp serve --tcp --port 2087", ""),
    ),
    "mcp": (
        ("hlo-lsp mcp", ""),
        (
            """hlo-lsp mcp --call modules --arguments '{"path": "."}'""",
            "206.77 MiB HBM peak  jit_train_step",
        ),
    ),
}
"""Commands with a line of their output, if there is one; most are about the sample dump."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows ``[options]`` in the usage instead of all options, which the list below it has.

    Names with hyphens, such as those of files and rules, stay on one line.
    """

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],  # noqa: ARG002  the alternatives are options
        prefix: str | None = None,
    ) -> None:
        """Add the usage without single options."""
        positional = [action for action in actions if not action.option_strings]
        options = argparse.Action([], "options", metavar="[options]")
        super().add_usage(usage, [options, *positional], (), prefix)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class RootParser(argparse.ArgumentParser):
    """The parser of the program, whose help lists the commands by intent."""

    def format_help(self) -> str:
        """Return the list of commands."""
        return SHORT_HELP


def whole_help(parser: argparse.ArgumentParser) -> str:
    """Return the help of the program, of its own options, and of all commands."""
    own = argparse.ArgumentParser.format_help(parser)
    return "\n".join(
        [SHORT_HELP, own, *(one.format_help() for one in commands_of(parser).values())]
    )


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands by name."""
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(commands.choices)


def examples_text(command: str) -> str | None:
    """Return examples of a command, each with a line of its output."""
    examples = EXAMPLES.get(command)
    if examples is None:
        return None
    lines = (f"  $ {line}\n  {shown}".rstrip() for line, shown in examples)
    return "\n".join(["examples:", *lines])
