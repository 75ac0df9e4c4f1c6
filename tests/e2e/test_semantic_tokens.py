"""Tests for semantic tokens in real dumps."""

from collections.abc import Callable, Sequence

from lsprotocol import types

from e2e.compiles import Compile
from e2e.editor import Editor, OpenFile

Compiled = Callable[[str], Compile]


def decode_tokens(file: OpenFile, data: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return the line, the text, and the type with modifiers of each token."""
    provider = file.editor.result.capabilities.semantic_tokens_provider
    assert provider is not None
    legend = provider.legend
    found = []
    line = units = 0
    for at in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[at : at + 5]
        line, units = (line + down, right) if down else (line, units + right)
        start = file.text.column(types.Position(line, units))
        end = file.text.column(types.Position(line, units + length))
        names = [n for bit, n in enumerate(legend.token_modifiers) if modifiers >> bit & 1]
        what = " ".join([legend.token_types[kind], *names])
        found.append((line, file.text.lines[line][start:end], what))
    return found


async def full_tokens(file: OpenFile) -> types.SemanticTokens:
    params = types.SemanticTokensParams(file.document)
    request = file.editor.client.text_document_semantic_tokens_full_async(params)
    found = await file.editor.reply(request)
    assert found is not None
    return found


async def test_module_tokens_include_all_computation_declarations(
    any_editor: Editor, compiled: Compiled
) -> None:
    file = any_editor.open(compiled("tpu").module)
    found = decode_tokens(file, (await full_tokens(file)).data)
    declared = {text for _, text, what in found if what.startswith("computation declaration")}
    heads = (line.removeprefix("ENTRY ") for line in file.text.lines if line.endswith(" {"))
    assert declared == {line.split()[0] for line in heads}
    assert len(declared) > 3
    assert {"computation", "opcode", "tile", "memorySpace", "string"} <= {w for _, _, w in found}
