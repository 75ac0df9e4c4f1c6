"""textDocument/signatureHelp."""

from lsprotocol import types

from hlo_lsp.analysis.writing.signatures import Parameter, Signature, signature_at
from hlo_lsp.features.session import Asked

OPTIONS = types.SignatureHelpOptions(trigger_characters=["(", ",", "="])


def signature_help(asked: Asked, position: types.Position) -> types.SignatureHelp | None:
    """The operands or attributes of the opcode that is being written."""
    line, column = asked.convert.column(asked.file, position)
    found = signature_at(asked.file, line, column)
    if found is None:
        return None
    parameters = [_parameter(asked, found, parameter) for parameter in found.parameters]
    information = types.SignatureInformation(found.label, _text(asked, found.text), parameters)
    return types.SignatureHelp([information], active_signature=0, active_parameter=found.active)


def _parameter(
    asked: Asked, signature: Signature, parameter: Parameter
) -> types.ParameterInformation:
    # Names of HLO are ASCII, so that columns are the same in all encodings.
    label = signature.label[parameter.start : parameter.end]
    return types.ParameterInformation(
        (parameter.start, parameter.end) if asked.client.places_parameters else label,
        _text(asked, parameter.text) if parameter.text else None,
    )


def _text(asked: Asked, text: str) -> types.MarkupContent | str:
    if asked.client.helps_in_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return text.replace("`", "")
