"""What recomputing activations saves."""

from hlo_lsp.memory.advice import rematerialization_saving
from hlo_lsp.memory.grouping import owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_STEM = "module_0001.jit_f.cpu_after_optimizations"
_HEAD = "HloModule jit_f, is_scheduled=true\n\nENTRY %main (x: f32[512]) -> f32[512] {\n"


def _saving(values: list[tuple[str, str, int]]) -> int:
    """Return the saving for activations with operation names, shapes, and sizes."""
    module, assignment, ranges = _HEAD + "  %x = f32[512]{0} parameter(0)\n", "", ""
    total = 0
    for number, (operation, shape, size) in enumerate(values):
        metadata = f'metadata={{op_name="jit(f)/jvp()/{operation}"}}'
        module += f'  %a.{number} = {shape} custom-call(%x), custom_call_target="f", {metadata}\n'
        assignment += f" value: <{number} a.{number} @0> (size={size},offset={total}): {shape}\n"
        ranges += f"    a.{number}{{}}:0-9\n"
        total += size
    texts = {
        "": f"{module}  ROOT %r = f32[512]{{0}} negate(%x)\n}}\n",
        "-buffer-assignment": "BufferAssignment:\n"
        f"allocation 0: size {total}, preallocated-temp:\n{assignment}",
        "-live-range": "HloLiveRange (max 9):\n  InstructionSequence:\n    0:x\n  "
        f"BufferLiveRange:\n{ranges}",
    }
    files = [DumpFile.of_text(text, f"{_STEM}{name}.txt") for name, text in texts.items()]
    dump = Compile(files)
    return rematerialization_saving(owned_buffers(dump, live_buffers(dump, 0, 1)))


_SHAPE = "f32[512]{0}"


def test_inputs_of_layers_and_half_of_a_layer_remain() -> None:
    layers = [("sin", _SHAPE, 2048), ("dot_general", "f32[1024]{0}", 4096)] * 4
    assert _saving(layers) == 4 * 6144 - 4 * 2048 - 6144 // 2


def test_small_activations_are_no_inputs_of_layers() -> None:
    layers = [("sin", _SHAPE, 2048), ("cos", _SHAPE, 2048), ("max", "f32[1]{0}", 4)] * 4
    assert _saving(layers) == 4 * 4100 - 4 * 2048 - 4100 // 2


def test_loop_stacks_its_layers() -> None:
    name = "while/body/dynamic_update_slice"
    stacked = [(name, "f32[8,512]{1,0}", 16384), (name, "f32[8,512]{1,0}", 16384)]
    assert _saving(stacked) == 32768 - 8 * 2048 - 32768 // 16


def test_one_layer_saves_nothing() -> None:
    assert _saving([("sin", _SHAPE, 2048), ("cos", _SHAPE, 2048)]) == 0
