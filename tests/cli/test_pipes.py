"""Output pipes that close early, as with ``head``, and full disks."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import environment
from e2e.compiles import Compile
from e2e.process import COMMAND

FULL_DISK = Path("/dev/full")


def read_some(*arguments: str | Path, size: int) -> tuple[int, bytes]:
    """Close the pipe after some bytes, and return the exit status and the error output."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert len(process.stdout.read(size)) == size
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read()
        return process.wait(60), errors


@pytest.fixture
def large(compiled: Callable[[str], Compile]) -> Path:
    """Return a dump whose output is larger than a pipe buffer."""
    path = compiled("one file").assignment
    text = path.read_text("utf-8")
    rows = "".join(f" value: <{number} v.{number} @0> (size=1,offset=0): f32[4]{{0:T(128)}}\n"
                   for number in range(1000, 6000))  # fmt: skip
    path.write_text(text.replace("allocation 2:", f"{rows}allocation 2:"), "utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "size"),
    [(["check", "--format", "json"], 5000), (["inspect", "--value", "166"], 1)],
)
def test_closed_pipe_is_no_error(large: Path, arguments: list[str], size: int) -> None:
    """The pipe is closed during the output, or before what fits into its buffer is flushed."""
    command, *options = arguments
    status, errors = read_some(command, large, *options, size=size)
    assert errors == b""
    assert status == 0


@pytest.mark.skipif(not FULL_DISK.exists(), reason="this system has no full device")
def test_full_disk_is_one_clear_error(large: Path) -> None:
    with FULL_DISK.open("w") as output:
        ended = subprocess.run(
            [*COMMAND, "summary", str(large)],
            stdout=output,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment(),
            check=False,
        )
    assert ended.stderr == "hlo-lsp: cannot write the output: No space left on device\n"
    assert ended.returncode == 2
