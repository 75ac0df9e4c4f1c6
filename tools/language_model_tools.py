"""Write the tools for agents into the manifest of the client for VS Code."""

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hlo_lsp.cli.agent_tools import TOOLS

MANIFEST = Path(__file__).resolve().parent.parent / "vscode-client" / "package.json"
_TITLES = {
    "summary": "Summary",
    "modules": "Compiles",
    "find": "Find Buffers",
    "inspect": "Inspect",
    "diff": "Compare",
    "check": "Check",
    "cost": "Cost",
    "profile": "Profile",
    "history": "History",
    "oom": "Out of Memory",
}
_OF_TIME = {"cost", "profile"}


def with_tools(text: str) -> str:
    """Return the text of a manifest with the current tools."""
    manifest = json.loads(text)
    manifest["contributes"]["languageModelTools"] = list(map(_contribution, TOOLS))
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _contribution(tool: Callable[..., str]) -> dict[str, Any]:
    name = tool.__name__
    summary, described = _parts(tool)
    return {
        "name": f"hlo_{name}",
        "toolReferenceName": f"hlo-{name}",
        "displayName": f"HLO: {_TITLES[name]}",
        "userDescription": summary,
        "modelDescription": f"{summary} For the text dumps of XLA, the compiler of JAX.",
        "canBeReferencedInPrompt": True,
        "tags": ["xla", "hlo", "time" if name in _OF_TIME else "memory"],
        "inputSchema": _schema(tool, described),
    }


def _parts(tool: Callable[..., str]) -> tuple[str, dict[str, str]]:
    """Return the summary of a tool, and the descriptions of its arguments."""
    summary, _, rest = inspect.cleandoc(tool.__doc__ or "").partition("\n\nArgs:\n")
    rows = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", rest, re.MULTILINE)
    return summary, {name: " ".join(text.split()) for name, text in rows}


def _schema(tool: Callable[..., str], described: dict[str, str]) -> dict[str, Any]:
    """Return the JSON schema of the arguments of a tool."""
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(tool).parameters.items():
        is_text = parameter.annotation in {str, "str"}
        schema = {"type": "string" if is_text else "integer", "description": described[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif parameter.default not in {None, ""}:
            schema["default"] = parameter.default
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required}


if __name__ == "__main__":
    MANIFEST.write_text(with_tools(MANIFEST.read_text("utf-8")), "utf-8")
