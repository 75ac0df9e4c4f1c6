"""The requests and notifications that are not in the specification, and their parameters."""

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from lsprotocol import types

P = TypeVar("P")

MODULES_CHANGED_METHOD = "hlo/modulesChanged"
SOURCE_LINES_CHANGED_METHOD = "hlo/sourceLinesChanged"


Direction = Literal["previous", "next"]


@dataclass(frozen=True, slots=True)
class AdjacentPassParams:
    """A cursor in the text of a pass, and the pass that its instruction is wanted in."""

    uri: str
    position: types.Position
    direction: Direction = "next"


@dataclass(frozen=True, slots=True)
class CompilePlace:
    """A file or a folder; ``line``, from 0, selects a section of a stdout dump, None all of it."""

    uri: str
    line: int | None = 0


@dataclass(frozen=True, slots=True)
class CompareParams:
    """Two compiles, and the width of the page for clients that show text, None without one."""

    before: CompilePlace
    after: CompilePlace
    columns: int | None = None


@dataclass(frozen=True, slots=True)
class CompileChanges:
    """The changes to a program; see ``hlo_lsp.compiling.program.Changes``."""

    chip: str | None = None
    topology: str | None = None
    flags: dict[str, str] | None = None
    donate: list[str] | None = None
    noDonate: bool = False  # noqa: N815  # as JSON has it


@dataclass(frozen=True, slots=True)
class CompileParams:
    """A text to compile, open or on disk, and changes to its program."""

    uri: str
    changes: CompileChanges | None = None


@dataclass(frozen=True, slots=True)
class ModulesParams:
    """URIs of the folders to list compiles from; None for the workspace folders."""

    folders: list[str] | None = None


@dataclass(frozen=True, slots=True)
class SourceLinesParams:
    """A Python file; with its ``text``, lines are where the edits since the compile moved them."""

    uri: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class FileParams:
    """A file; for ``hlo/text``, a proto, a compressed file, or an archive."""

    uri: str


@dataclass(frozen=True, slots=True)
class UrlParams:
    """The URL of a remote folder or file."""

    url: str


@dataclass(frozen=True, slots=True)
class WindowParams:
    """A large file and a line, from 0, that is wanted with its surroundings."""

    uri: str
    line: int


@dataclass(frozen=True, slots=True)
class CustomRequest(Generic[P]):
    """A message with one of these methods."""

    id: int | str
    method: str
    jsonrpc: str
    params: P


ADJACENT_PASS_METHOD = "hlo/adjacentPass"
COMPARE_METHOD = "hlo/compare"
COMPILE_METHOD = "hlo/compile"
COMPILE_CHOICES_METHOD = "hlo/compileChoices"
CONVERTED_TEXT_METHOD = "hlo/text"
FETCH_METHOD = "hlo/fetch"
HOSTS_METHOD = "hlo/hosts"
HOTTEST_METHOD = "hlo/hottest"
MEMORY_MAP_METHOD = "hlo/memoryMap"
MISSING_SOURCES_METHOD = "hlo/missingSources"
MODULES_METHOD = "hlo/modules"
REMOTE_FOLDER_METHOD = "hlo/remoteFolder"
SOURCE_LINES_METHOD = "hlo/sourceLines"
WINDOW_METHOD = "hlo/window"

MESSAGE_TYPES: dict[str, Any] = {
    ADJACENT_PASS_METHOD: CustomRequest[AdjacentPassParams],
    COMPARE_METHOD: CustomRequest[CompareParams],
    COMPILE_METHOD: CustomRequest[CompileParams],
    COMPILE_CHOICES_METHOD: CustomRequest[FileParams],
    CONVERTED_TEXT_METHOD: CustomRequest[FileParams],
    FETCH_METHOD: CustomRequest[FileParams],
    HOSTS_METHOD: CustomRequest[FileParams],
    HOTTEST_METHOD: CustomRequest[CompilePlace],
    MEMORY_MAP_METHOD: CustomRequest[CompilePlace | CompareParams],
    MISSING_SOURCES_METHOD: CustomRequest[FileParams],
    MODULES_METHOD: CustomRequest[ModulesParams | None],
    REMOTE_FOLDER_METHOD: CustomRequest[UrlParams],
    SOURCE_LINES_METHOD: CustomRequest[SourceLinesParams],
    WINDOW_METHOD: CustomRequest[WindowParams],
}
