"""The process that compiles module texts: ``jax_compiler.py`` in another Python.

A request is a line of JSON:

- ``text``: the HLO module; ``mlir``: the program as JAX passed it to the compiler, if known.
- ``platform``, ``topology``, ``replicas``, ``partitions``, ``device_ids``: the devices. Those of a
  TPU or a GPU need not exist. ``host_devices`` is the number of devices of the CPU, and
  ``target_config`` describes a GPU (``gpu_target_config.pbtxt``).
- ``build``, ``layout_modes``, ``effort``, ``options``: the settings; ``build`` has attributes of
  ``ExecutableBuildOptions``.
- ``inherited_options``: options of the dump, of which those that the compiler lacks are left out.
- ``dumped_options``, ``dumped_topology``, ``change``: all options in a dump, its slice, and the
  change number of its libtpu. Those that differ from the defaults of the same libtpu are used.
- ``donated``, ``no_donation``: arguments to donate, and whether no others are donated.
- ``folder``: the folder for the dump, by default a new one; ``scratch``: one for other files.

An answer is a line of JSON, too: ``{"stage": NAME}`` when a stage begins, and at the end the fields
of ``CompileResult``, or ``error``, ``type``, and the stage that ``failed``. The first stage begins
before the first request: the process loads jax while this one reads the dump.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Timer
from typing import Any

from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.pythons import without_package
from hlo_lsp.python_processes import python_environment
from hlo_lsp.text.inert import printable

Json = dict[str, Any]
_MAX_MESSAGE = 600
_STATUS = re.compile(r"^(?:[A-Z_]{4,}: )+")
_PLACE = re.compile(r"\b(?:was parsing |^)(\d+):(\d+): error: ([^\n]*)", re.MULTILINE)
_FATAL = re.compile(r"^F\d{4} [^\]\n]*\] (.*\S)", re.MULTILINE)  # a failed check of XLA
_GENERAL = "cannot parse as an instruction name"
_OPERATION = re.compile(r'^error: "([^"]+)"(?:\([^\n]*?\))?: ([^\n]*)', re.MULTILINE)  # MLIR
_MISSING_PACKAGE = "PackageNotFoundError"
_CUDA = "cuda13"
_HIDDEN_VARIABLES = frozenset({"XLA_FLAGS", "LIBTPU_INIT_ARGS", "JAX_COMPILATION_CACHE_DIR"})


@dataclass(frozen=True, slots=True)
class CompileResult:
    """The answer of the compiler about a compile, besides its dump.

    Attributes:
        versions: The versions of ``jax``, and of the compiler of a TPU or a GPU.
        device: The name of the device in JAX, such as ``TPU v5 lite``.
        is_original: Whether the program was compiled as JAX passed it, not converted from HLO.
        changed_options: The options that the compile of the dump had changed; None if the dump is
            of another libtpu, whose defaults are unknown.
        unknown_options: The options of the dump that the compiler lacks.
        memory: The numbers of ``memory_analysis()`` in bytes.
        seconds: The time of each stage.
        folder: The folder with the dump.
    """

    versions: Mapping[str, str]
    device: str
    is_original: bool
    changed_options: Mapping[str, str] | None
    unknown_options: Sequence[str]
    memory: Mapping[str, int]
    seconds: Mapping[str, float]
    folder: Path


class CompilerProcess:
    """A process that compiles one text after the other; it ends with the block.

    An equal request without a folder has the same result. After a crash, and for another number of
    devices of the CPU, which XLA reads once, the next request starts another process.
    """

    script = Path(__file__).with_name("jax_compiler.py")

    def __init__(
        self,
        python: str,
        report: Callable[[str], None] = lambda _: None,
        seconds: float | None = None,
        folder: Path | None = None,
        results: "dict[bytes, CompileResult] | None" = None,
    ) -> None:
        """Start the process.

        Args:
            python: The Python that has jax.
            report: Called with the name of each stage when it begins.
            seconds: The time limit of each compile.
            folder: A folder that keeps the dumps after the end of the process.
            results: Results of other processes with this Python, to which this one adds its own.

        Raises:
            CompileFailedError: The process cannot be started.
        """
        self.python = python
        self._report, self._seconds = report, seconds
        self._kept = folder
        self._folder = tempfile.TemporaryDirectory(
            prefix="hlo-compile-", ignore_cleanup_errors=True
        )
        self._log = tempfile.TemporaryFile(dir=self._folder.name)  # noqa: SIM115  # until the end
        self._has_timed_out = self._is_stopped = False
        self._results = {} if results is None else results
        self._host_devices: int | None = None
        try:
            self._process = self._start()
        except CompileFailedError:
            self._log.close()
            self._folder.cleanup()
            raise

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = python_environment()
        for name in _HIDDEN_VARIABLES.intersection(environment):
            del environment[name]
        try:
            return subprocess.Popen(
                [self.python, str(self.script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=self._folder.name,
                env=environment,
                start_new_session=True,  # Ctrl-C ends it by way of this process
            )
        except OSError as error:
            raise CompileFailedError(f"{self.python}: {error.strerror}") from error

    def __enter__(self) -> "CompilerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and delete its folders."""
        self.stop()
        self._process.communicate()  # also closes the pipes
        self._log.close()
        self._folder.cleanup()

    def stop(self) -> None:
        """End the process, also during a compile; any thread can call this."""
        self._is_stopped = True
        self._kill()

    def _kill(self) -> None:
        """Kill the process, and the interpreter if it is a script that has started one."""
        if sys.platform != "win32" and self._process.returncode is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _prepare(self, host_devices: int) -> None:
        """Start another process if this one has ended, or has other devices of the CPU."""
        is_other = self._host_devices not in {None, host_devices}
        if not self._is_stopped and (is_other or self._process.poll() is not None):
            self._kill()
            self._process.communicate()
            self._has_timed_out = False
            self._log.seek(0)
            self._log.truncate()
            self._process = self._start()
            if self._is_stopped:  # meanwhile
                self._kill()
        self._host_devices = host_devices

    def new_folder(self, name: str = "") -> Path:
        """Return a new folder for a dump, whose name begins with this one."""
        return Path(tempfile.mkdtemp(prefix=name, dir=self._kept or self._folder.name))

    def compile(self, request: Json, name: str = "") -> CompileResult:
        """Compile a text, which writes a dump into the folder of the request.

        Args:
            request: The request, without ``scratch``.
            name: The beginning of the name of a new folder.

        Raises:
            CompileFailedError: The compiler refuses the text, ends early, or needs too long.
        """
        key = sha256(json.dumps(request).encode()).digest()
        if key not in self._results or not self._results[key].folder.exists():
            folder = request.get("folder") or str(self.new_folder(name))
            self._keep(key, self._compile({**request, "folder": folder}))
        return self._results[key]

    def _keep(self, key: bytes, result: CompileResult) -> None:
        """Keep a result, and no longer those of other releases: jax can be upgraded meanwhile."""
        for other in [
            one for one, known in self._results.items() if known.versions != result.versions
        ]:
            del self._results[other]
        self._results[key] = result

    def _compile(self, request: Json) -> CompileResult:
        host_devices = _host_devices(request)
        self._prepare(host_devices)
        scratch = tempfile.mkdtemp(dir=self._folder.name)
        content = json.dumps({**request, "host_devices": host_devices, "scratch": scratch})
        timer = None if self._seconds is None else Timer(self._seconds, self._time_out)
        if timer is not None:
            timer.start()
        try:
            answer = self._answer(content.encode() + b"\n")
        finally:
            if timer is not None:
                timer.cancel()
        if answer is None:
            raise self._ending()
        if "error" in answer:
            raise self._refusal(answer)
        answer["folder"] = Path(request["folder"])
        return CompileResult(**{name: answer[name] for name in CompileResult.__slots__})

    def _time_out(self) -> None:
        self._has_timed_out = True
        self._kill()

    def _answer(self, line: bytes) -> Json | None:
        """Send a request, and return the last answer, None if the process ends before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            return None
        for text in self._process.stdout:
            if not text.startswith(b"{"):  # what a script prints before it starts Python
                continue
            answer: Json = json.loads(text)
            if "stage" not in answer:
                return answer
            self._report(answer["stage"])
        return None

    def _ending(self) -> CompileFailedError:
        status = self._process.wait()
        if self._has_timed_out:
            return CompileFailedError(f"the compiler needs longer than {self._seconds:g} s")
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        hint = "; it may have run out of memory" if status == -9 else ""
        self._log.seek(0)
        log = self._log.read().decode("utf-8", "replace").strip()
        reasons = _FATAL.findall(log) or log.split("\n")[-1:]
        what = f": {printable(reasons[-1][:_MAX_MESSAGE])}" if log else ""
        return CompileFailedError(f"the compiler ended early, {how}{hint}{what}")

    def _refusal(self, answer: Json) -> CompileFailedError:
        text: str = answer["error"]
        if answer["type"] == _MISSING_PACKAGE:
            package = text.rpartition(" ")[2]
            wanted = f'"jax[{_CUDA}]"' if _CUDA in package else package
            return CompileFailedError(without_package(self.python, package, wanted))
        places = _PLACE.findall(text) if answer["failed"] == "parse" else []
        if places:
            # Of several, the first can be about all that an operand could be.
            line, column, what = next((one for one in places if _GENERAL not in one[2]), places[0])
            return CompileFailedError(_first_line(what), int(line) - 1, int(column) - 1)
        operation = _OPERATION.search(text)
        if operation is not None:
            message = f"{operation[1]}: {_first_line(operation[2])}"
            return CompileFailedError(message, name=operation[1])
        return CompileFailedError(_first_line(text))


def _host_devices(request: Json) -> int:
    """Return the number of devices of the CPU, which XLA reads when it is first used."""
    is_cpu = request.get("platform") == "cpu"
    count: int = max(1, request.get("host_devices", 1))
    return max(count, request["replicas"] * request["partitions"]) if is_cpu else count


def _first_line(text: str) -> str:
    """Return the first line of an error of XLA, with that after a title, without its status."""
    found = re.sub(r"^([^\n]*:)\n+", r"\1 ", _STATUS.sub("", text.strip()))
    return printable(found.partition("\n")[0][:_MAX_MESSAGE]) or "the compiler failed"
