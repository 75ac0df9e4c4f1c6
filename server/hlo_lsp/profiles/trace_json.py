"""Reading of ``*.trace.json.gz`` files, which hold the events of a profile for trace viewers.

They lack the ids of programs, the asynchronous transfers of TPUs, and, in large profiles, events.
The JSON is read in pieces, because the objects of a large file need many times its size.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from hlo_lsp.profiles.events import InstructionEvent, ModuleSpan, Profile, Program
from hlo_lsp.protos.profile_modules import program_of

_MAX_VALUE_CHARACTERS = 8 << 20  # of an element, or of a value of the outermost object
_AFTER_VALUE = frozenset(",:]} \t\n\r")
_BLANK = re.compile(r"[ \t\n\r]*")


def elements(pieces: Iterable[bytes], key: str) -> Iterator[Any]:
    """Yield the elements of the list that the outermost object has under a key.

    Args:
        pieces: The parts of the text, each of any size.
        key: The key.

    Raises:
        ValueError: The text is not JSON, has no such list, or has a value that is too long.
        RecursionError: A value is nested too deeply.
    """
    text = _Text(pieces)
    is_found = False
    text.expect("{")
    separator = "," if text.next() != "}" else text.expect("}")
    while separator == ",":
        name = text.value()
        text.expect(":")
        if name == key and text.next() == "[":
            is_found = True
            yield from _elements(text)
        else:
            text.value()
        separator = text.expect(",}")
    if text.next():
        raise ValueError("extra data after the end")
    if not is_found:
        raise ValueError(f"no list {key}")


def _elements(text: "_Text") -> Iterator[Any]:
    text.expect("[")
    separator = "," if text.next() != "]" else text.expect("]")
    while separator == ",":
        yield text.value()
        separator = text.expect(",]")


class _Text:
    """A text of which only the part around the current position is in memory."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogatepass")
        self._part = ""
        self._position = 0
        self._raw_decode = JSONDecoder().raw_decode

    def next(self) -> str:
        """Return the next character that is not blank, and stay before it; "" at the end."""
        while True:
            found = _BLANK.match(self._part, self._position)
            self._position = found.end() if found else self._position
            if self._position < len(self._part):
                return self._part[self._position]
            if not self._read():
                return ""

    def expect(self, characters: str) -> str:
        """Return the next character and go past it if it is one of some.

        Raises:
            ValueError: It is not.
        """
        found = self.next()
        if not found or found not in characters:
            wanted = " or ".join(characters)
            raise ValueError(f"expected {wanted}" if found else "the text ends too early")
        self._position += 1
        return found

    def value(self) -> Any:
        """Return the next value, and go past it.

        Raises:
            ValueError: There is none, or it is too long.
        """
        self.next()
        while True:
            error: JSONDecodeError | None = None
            try:
                found, end = self._raw_decode(self._part, self._position)
            except JSONDecodeError as problem:
                error = problem
            # A number such as `1.` at the end of a part goes on in the next one.
            if error is None and self._part[end : end + 1] in _AFTER_VALUE:
                self._position = end
                return found
            if len(self._part) - self._position > _MAX_VALUE_CHARACTERS:
                raise ValueError(f"a value is longer than {_MAX_VALUE_CHARACTERS:,} characters")
            if not self._read():
                if error is not None:
                    raise ValueError(error.msg)
                self._position = end
                return found

    def _read(self) -> bool:
        """Read the next part, and forget what is before the position; return False at the end."""
        piece = next(self._pieces, None)
        text = self._decoder.decode(piece or b"", final=piece is None)
        self._part = self._part[self._position :] + text
        self._position = 0
        return piece is not None or bool(text)


NOTE = (
    "a trace.json file lacks asynchronous transfers, ids of programs, and some events of large"
    " profiles; the xplane.pb file beside it has them"
)
_DEVICE = re.compile(r"/device:(TPU|GPU):(\d+)(.*)", re.DOTALL)
_RUN_ID = re.compile(r"-?\d{1,20}")
_PS_PER_US = 1_000_000
_MAX_PS = 2**63 - 1


class NotATraceError(Exception):
    """A file that is not a trace; the message is the reason."""


def read_trace(pieces: Iterable[bytes], profile: Profile, label: str, host: str = "") -> None:
    """Add the events of a file to a profile.

    Args:
        pieces: The parts of the content of the file.
        profile: The profile.
        label: The name of the file in messages about damages.
        host: What precedes the names of devices.

    Raises:
        NotATraceError: The file is not a trace.
    """
    processes: dict[str, str] = {}
    names: dict[tuple[str, str], str] = {}
    found: list[_Event] = []
    texts: dict[str, str] = {}  # equal ones share one string
    try:
        for event in elements(pieces, "traceEvents"):
            if not isinstance(event, dict):
                continue
            if event.get("ph") == "X":
                found += _read_event(event, texts)
            elif event.get("ph") == "M":
                name = str(_arguments(event).get("name", ""))
                if event.get("name") == "process_name":
                    processes[str(event.get("pid"))] = name
                elif event.get("name") == "thread_name":
                    names[str(event.get("pid")), str(event.get("tid"))] = name
    except (ValueError, RecursionError) as error:
        raise NotATraceError(f"not the JSON of a trace ({error})") from None
    profile.notes.append(f"{label}: {NOTE}")
    threads: dict[tuple[str, str], _Thread] = {}
    for one in found:
        if one.thread not in threads:
            process = processes.get(one.thread[0], "")
            name = names.get(one.thread, "")
            threads[one.thread] = _Thread(process, name, len(threads), host)
        _add(one, profile, threads[one.thread])


class _Event(NamedTuple):
    """The used part of an event. ``operation`` is empty if the event names no instruction."""

    thread: tuple[str, str]
    start: int
    duration: int
    title: str
    operation: str
    module: str
    run_id: int | None
    device: str
    is_launch: bool


class _Thread(NamedTuple):
    """A thread of a process of the trace: a line of a plane of the profile."""

    process: str
    name: str
    number: int
    host: str


def _read_event(event: dict[str, Any], texts: dict[str, str]) -> Iterator[_Event]:
    """Yield what is used of an event, nothing if its time is damaged."""
    try:
        start, duration = _picoseconds(event.get("ts", 0)), _picoseconds(event.get("dur", 0))
    except (TypeError, ValueError, OverflowError):
        return
    if duration < 0:
        return
    arguments = _arguments(event)

    def text(value: Any) -> str:
        return texts.setdefault(str(value), str(value))

    run = str(arguments.get("run_id", ""))
    yield _Event(
        (text(event.get("pid")), text(event.get("tid"))),
        start,
        duration,
        text(event.get("name", "")),
        text(str(arguments.get("hlo_op", "")).rpartition("::")[2]),
        text(arguments.get("hlo_module", "")),
        int(run) if _RUN_ID.fullmatch(run) else None,
        text(arguments.get("device_ordinal", 0)),
        "correlation_id" in arguments,
    )


def _add(event: _Event, profile: Profile, thread: _Thread) -> None:
    found = _DEVICE.fullmatch(thread.process)
    name, title = event.operation, event.title
    device = f"{thread.host}CPU {event.device}"
    if found is not None:
        device = f"{thread.host}{found[1]} {found[2]}{found[3]}"
        if thread.name == "XLA Modules":
            program = program_of(title)
            if program is not None and found[1] == "TPU":
                events = profile.of(Program(program[0], None), device)
                events.spans.append(ModuleSpan(event.run_id, event.start, event.duration))
            return
        if found[1] == "TPU":
            if thread.name != "XLA Ops":
                return
            name = name or title
        elif not thread.name.startswith("Stream"):
            return
        elif not name:
            profile.add_unnamed(title, event.duration)
    elif event.is_launch:
        return
    if name:
        profile.of(Program(event.module, None), device).events.append(
            InstructionEvent(name, thread.number, event.start, event.duration, event.run_id, title)
        )


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def _picoseconds(microseconds: Any) -> int:
    """Return a time in picoseconds.

    Raises:
        OverflowError: The time is not finite, or does not fit in 64 bits.
    """
    found = round(float(microseconds) * _PS_PER_US)
    if abs(found) > _MAX_PS:
        raise OverflowError
    return found
