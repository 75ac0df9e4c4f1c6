"""A small dump, and files opened in a session without a process around them."""

from pathlib import Path

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import RequestContext, Session

DUMP = """\
BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}
allocation 1: size 512, output shape is |f32[4]|, maybe-live-out:
 value: <3 mul @0> (size=512,offset=0): f32[4]{0:T(128)}
allocation 2: size 1024, color 1, preallocated-temp:
 value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}

Total bytes used: 2048 (2.0KiB)

Used values:
<1 x @0>
 positions:
  x
 uses:
  add, operand 0
  add, operand 1
 from instruction: %x = f32[4]{0:T(128)} parameter(0), metadata={op_name="x"}
<2 add @1>
 positions:
  add
 uses:
  mul, operand 0
  mul, operand 1
 from instruction: %add = f32[4]{0:T(128)S(1)} add(%x, %x), metadata={op_name="jit(f)/add"}
<3 mul @0>
 positions:
  mul
 uses:
 from instruction: %mul = f32[4]{0:T(128)} multiply(%add, %add)


HloLiveRange (max 3):
  InstructionSequence:
    0:x
    1:add
    2:mul
  BufferLiveRange:
    x{}:0-3
    add{}:1-2
    mul{}:2-3
  Live ranges at 2 (peak):
    add{}: 16 bytes (cumulative: 16 bytes)
    mul{}: 16 bytes (cumulative: 32 bytes)
    x{}: 16 bytes (cumulative: 48 bytes)
  Stack trace breakdown for peak usage: 48 bytes
    main (100.0%, total: 48 bytes, current: 16 bytes, remaining: 32 bytes)
      ├── jit(f)/add (33.3%, total: 16 bytes, current: 16 bytes, remaining: 16 bytes)
      └── x (33.3%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)
"""


def split_dump(folder: Path) -> dict[str, Path]:
    """Write the dump as three files, like newer compilers, and return them by suffix."""
    assignment, total, live_section = DUMP.partition("\nTotal bytes used")
    values, label, ranges = live_section.partition("\n\nHloLiveRange")
    values = values.replace(" uses:\n from", " uses:\n  (none)\n from")
    texts = {
        "-buffer-assignment": assignment,
        "-buffer-assignment-values": total + values,
        "-live-range": label.lstrip("\n") + ranges,
    }
    paths = {end: folder / f"module_0001.f.after_optimizations{end}.txt" for end in texts}
    for end, path in paths.items():
        path.write_text(texts[end], "utf-8")
    return paths


def item(uri: str, text: str, version: int = 1) -> types.TextDocumentItem:
    """Return a document as a client opens it."""
    return types.TextDocumentItem(uri, "hlo", version, text)


async def context(text: str = DUMP, client: Client | None = None) -> RequestContext:
    """Return a request context for the only file of a session."""
    session = Session()
    session.client = client or Client()
    file = session.open(item("untitled:dump", text))
    found = await context_in(session, types.TextDocumentIdentifier(file.uri))
    assert found is not None
    return found


async def context_in(
    session: Session,
    document: types.TextDocumentIdentifier,
    line: int | None = None,
    character: int | None = None,
    *,
    closed: bool = False,
) -> RequestContext | None:
    """Return the request context at a place of a text, None if it is not a dump."""
    found = await session.answer_at(document, line, character, lambda one: one, closed=closed)
    return found[0] if found else None


def at(text: str, line: str, word: str = "") -> types.Position:
    """Where a word stands in the first line that begins so (code points)."""
    lines = text.split("\n")
    number = next(number for number, found in enumerate(lines) if found.startswith(line))
    return types.Position(number, lines[number].index(word or line.strip()))
