"""Who mentions a name: the same before, while and after the names are learnt."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.mentions import Mentions
from hlo_lsp.model.multimap import MultiMap
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.document import Edit
from hlo_lsp.text.steps import finish

LINES = [
    "  %{} = f32[] add(%{}, %{})",
    "  {} = f32[] add({}, {})",
    "  %{} = f32[] negate(%{}), control-predecessors={{%{}}}",
    "  {} = f32[] negate({}), control-predecessors={{{}}}",
    "  %{} = f32[] fusion(%{}), calls=%{}",
    '  %{} = f32[] exp(%{}), metadata={{op_name="%{}"}}',
]
NAMES = [f"n.{number}" for number in range(6)] + ["n", "n.10"]
