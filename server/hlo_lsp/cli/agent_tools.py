"""The commands as tools for agents: functions whose answers are texts of a limited size.

Each tool runs a command in a separate process, so that the memory of a large dump is free after the
answer, and returns at most ``max_bytes`` of its text.
"""

import subprocess
from collections.abc import Callable

from hlo_lsp.python_processes import python_command, python_environment

_DEFAULT_BYTES = 4_000
_MIN_BYTES = 200
_TIMEOUT_SECONDS = 300
_PROGRAM = "import runpy; runpy.run_module('hlo_lsp', run_name='__main__')"


class AgentToolError(Exception):
    """A command failed; the message is for the agent."""


def summary(
    path: str,
    *,
    group_by: str = "line",
    space: str = "",
    at: int | None = None,
    top: int = 5,
    max_bytes: int = _DEFAULT_BYTES,
) -> str:
    """Show where the memory of a program goes: peaks, owners, lost bytes, and advice.

    Args:
        path: A dump file, a folder with dumps, or a log with an out-of-memory message.
        group_by: line, stack, scope, opcode, shape, role, space, allocation, or argument.
        space: Only this memory space, such as HBM or VMEM.
        at: A schedule step in place of the peak.
        top: The number of owners to show.
        max_bytes: The largest size of the answer in bytes.
    """
    options = ["--group-by", group_by, "--top", str(top)]
    options += ["--space", space] if space else []
    options += ["--at", str(at)] if at is not None else []
    return _answer("summary", [path], options, max_bytes)


def modules(path: str, max_bytes: int = _DEFAULT_BYTES) -> str:
    """List the compiles below a folder by peak, and show what differs in recompiles.

    Args:
        path: A folder with dumps.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("modules", [path], [], max_bytes)


def hosts(path: str, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Show whether all hosts of a pod compiled the same programs, and how those that differ do.

    Args:
        path: A folder with a folder of dumps for each host.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("hosts", [path], [], max_bytes)


def find(query: str, path: str, top: int = 10, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Find buffers by name, Python line, shape, or scope; the largest come first.

    Args:
        query: Such as fusion.40, train.py:27, f32[1024,1024], or a part of an op_name.
        path: A dump file or a folder with dumps.
        top: The number of buffers to show for each module.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("find", [query, path], ["--top", str(top)], max_bytes)


def why(path: str, name: str, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Explain why a buffer is alive: origin, uses by step, last use, donation.

    Args:
        path: A dump file of the compile.
        name: An instruction such as fusion.40, with a shape index such as fusion.40{0}, or the id
            of a value.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("why", [path, name], [], max_bytes)


def explain(path: str, name: str, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Describe a value, an instruction, or a line of a dump.

    Args:
        path: A dump file.
        name: The id of a value, the name of an instruction, or LINE:COLUMN, counted from 1.
        max_bytes: The largest size of the answer in bytes.
    """
    by_name = "--value" if name.isdecimal() else "--instruction"
    option = "--at" if ":" in name else by_name
    return _answer("inspect", [path], [f"{option}={name}", "--format", "text"], max_bytes)


def diff(before: str, after: str, top: int = 5, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Compare two compiles: peaks, the buffers and lines that changed them, instructions, flags.

    Args:
        before: A dump file or a folder with dumps.
        after: A dump file or a folder with dumps, after the change.
        top: The number of entries to show in each list.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("diff", [before, after], ["--top", str(top)], max_bytes)


def check(path: str, severity: str = "hint", max_bytes: int = _DEFAULT_BYTES) -> str:
    """Check dumps for inconsistencies (error, warning), and give advice (information, hint).

    Args:
        path: A dump file or a folder with dumps.
        severity: The lowest severity to report: error, warning, information, or hint.
        max_bytes: The largest size of the answer in bytes.
    """
    found = _answer("check", [path], ["--severity", severity], max_bytes)
    return found or f"no findings of severity {severity} or higher"


def donation(path: str, top: int = 10, max_bytes: int = _DEFAULT_BYTES) -> str:
    """List the arguments by donation: used, usable, without effect and why, idle at the peak.

    Args:
        path: A dump file or a folder with dumps.
        top: The number of arguments of each kind to show.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("donation", [path], ["--top", str(top)], max_bytes)


def padding(path: str, top: int = 10, max_bytes: int = _DEFAULT_BYTES) -> str:
    """List the padded arrays at the peak by wasted bytes, with the cheapest change for each.

    Args:
        path: A dump file or a folder with dumps.
        top: The number of shapes to show.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("padding", [path], ["--top", str(top)], max_bytes)


def cost(
    path: str, by: str = "line", chip: str = "", top: int = 10, max_bytes: int = _DEFAULT_BYTES
) -> str:
    """Show the FLOPs, the bytes, and the least time of a program, and what bounds it.

    Args:
        path: A dump file or a folder with dumps.
        by: Group by line, scope, opcode, phase, computation, or instruction.
        chip: The chip for the least time, such as v5e or h100; by default that of the dump.
        top: The number of groups to show.
        max_bytes: The largest size of the answer in bytes.
    """
    options = ["--by", by, "--top", str(top), *(["--chip", chip] if chip else [])]
    return _answer("cost", [path], options, max_bytes)


def profile(
    path: str,
    dumps: str = "",
    *,
    before: str = "",
    by: str = "line",
    chip: str = "",
    top: int = 10,
    max_bytes: int = _DEFAULT_BYTES,
) -> str:
    """Show where the measured time of a program goes, or what changed since another profile.

    Args:
        path: An xplane.pb or trace.json.gz file, or a folder that jax.profiler.trace wrote.
        dumps: A folder with the dumps of the program, by default the modules in the profile.
        before: A profile before a change, to compare with.
        by: Group by line, scope, opcode, phase, computation, or instruction.
        chip: The chip of the rooflines, such as v5e or h100; by default that of the dump.
        top: The number of rows to show for each module.
        max_bytes: The largest size of the answer in bytes.
    """
    options = ["--by", by, "--top", str(top), *(["--compare", before] if before else [])]
    options += ["--chip", chip] if chip else []
    return _answer("profile", [path, *([dumps] if dumps else [])], options, max_bytes)


def timeline(
    path: str, space: str = "", at: int | None = None, max_bytes: int = _DEFAULT_BYTES
) -> str:
    """Show the occupied bytes over the schedule, or the buffers at one step.

    Args:
        path: A dump file or a folder with dumps.
        space: Only this memory space, such as HBM or VMEM.
        at: List the buffers at this schedule step, largest first.
        max_bytes: The largest size of the answer in bytes.
    """
    options = ["--space", space] if space else []
    options += ["--at", str(at)] if at is not None else []
    return _answer("timeline", [path], ["--ascii", *options], max_bytes)


def overlap(path: str, top: int = 10, max_bytes: int = _DEFAULT_BYTES) -> str:
    """Show which asynchronous operations do not overlap with computation.

    Args:
        path: A dump file or a folder with dumps.
        top: The number of exposed operations to show.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("overlap", [path], ["--top", str(top)], max_bytes)


def history(path: str, name: str = "", max_bytes: int = _DEFAULT_BYTES) -> str:
    """Show what the passes of a compile changed, in dumps with --xla_dump_hlo_pass_re=.*.

    Args:
        path: A dump file or a folder with dumps.
        name: Only the changes of this instruction.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("history", [path, *([name] if name else [])], [], max_bytes)


def oom(log: str, dumps: str = "", max_bytes: int = _DEFAULT_BYTES) -> str:
    """Explain an out-of-memory message: what is missing, who owns the peak, what would save most.

    Args:
        log: A log with the message.
        dumps: A folder with the dumps of the same compile, by default that of the log.
        max_bytes: The largest size of the answer in bytes.
    """
    return _answer("oom", [log, *([dumps] if dumps else [])], [], max_bytes)


TOOLS: tuple[Callable[..., str], ...] = (
    *(summary, modules, hosts, find, why, explain, diff, check, donation, padding),
    *(cost, profile, timeline, overlap, history, oom),
)


def _answer(command: str, operands: list[str], options: list[str], max_bytes: int) -> str:
    """Return the output of a command, cut after whole lines.

    Args:
        command: Its name.
        operands: Its positional arguments, which are no options whatever they begin with.
        options: Its options.
        max_bytes: The largest size of the answer in bytes.

    Raises:
        AgentToolError: The command failed, with its message.
    """
    try:
        ended = subprocess.run(
            python_command(_PROGRAM, command, *options, "--", *operands),
            env=python_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AgentToolError(f"no answer within {_TIMEOUT_SECONDS} s") from error
    if ended.returncode and not ended.stdout.strip():
        lines = ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"]
        raise AgentToolError(bounded("\n".join(lines), max_bytes))
    return bounded(ended.stdout.rstrip("\n"), max_bytes)


def bounded(text: str, max_bytes: int) -> str:
    """Return a text, cut after whole lines if it is longer than a number of bytes.

    A cut text ends with a line that shows how much is left out, and how to see more.
    """
    limit = max(max_bytes, _MIN_BYTES)
    if len(text.encode()) <= limit:
        return text
    lines = text.splitlines()
    note = f"[{{}} of {len(lines):,} lines; for more, pass a larger max_bytes or a narrower query]"
    size, shown = len(note.format(f"{len(lines):,}")), 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > limit:
            break
        shown += 1
    kept = lines[:shown]
    if not kept:  # one long line
        cut = lines[0].encode()[: limit - len(note) - 8].decode(errors="ignore")
        kept = [f"{cut} ..."]
    return "\n".join([*kept, note.format(f"{shown:,}")])
