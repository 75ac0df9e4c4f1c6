"""Messages written in the text format of protobuf."""

from typing import Any

from google.protobuf import text_format

from hlo_lsp.protos.hlo_messages import CLASSES


def message(kind: str, text: str) -> Any:
    """Return a message of this kind."""
    return text_format.Parse(text, CLASSES[kind]())


MODULE = """
name: "jit_f"
entry_computation_id: 2
entry_computation_name: "main"
host_program_shape {
  parameters { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
  result { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
}
computations {
  name: "fused" id: 1 root_id: 12
  instructions {
    name: "p" opcode: "parameter" id: 11
    shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
  }
  instructions {
    name: "neg" opcode: "negate" id: 12 operand_ids: 11
    shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
  }
}
computations {
  name: "main" id: 2 root_id: 23
  instructions {
    name: "x" opcode: "parameter" id: 21
    shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
  }
  instructions {
    name: "fusion" opcode: "fusion" id: 22 operand_ids: 21 called_computation_ids: 1
    fusion_kind: "kLoop"
    shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
    metadata { op_name: "jit(f)/neg" source_file: "f.py" source_line: 3 }
  }
  instructions {
    name: "copy" opcode: "copy" id: 23 operand_ids: 22
    shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }
  }
}
schedule {
  sequences { key: 1 value { instruction_ids: 11 instruction_ids: 12 } }
  sequences { key: 2 value { instruction_ids: 21 instruction_ids: 22 instruction_ids: 23 } }
}
"""
MODULE_TEXT = """\
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %neg = f32[4]{0} negate(%p)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %fusion = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused, \
metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}
  ROOT %copy = f32[4]{0} copy(%fusion)
}

"""
ASSIGNMENT = """
logical_buffers { id: 0 size: 16 defined_at { instruction_id: 21 } }
logical_buffers { id: 1 size: 16 defined_at { instruction_id: 22 } }
logical_buffers { id: 2 size: 16 defined_at { instruction_id: 23 } }
buffer_allocations {
  index: 0 size: 16 is_entry_computation_parameter: true
  assigned { logical_buffer_id: 0 size: 16 }
}
buffer_allocations {
  index: 1 size: 16 maybe_live_out: true
  assigned { logical_buffer_id: 2 size: 16 }
}
buffer_allocations { index: 2 size: 16 assigned { logical_buffer_id: 1 size: 16 } }
"""
ASSIGNMENT_TEXT = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 x @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:
 value: <2 copy @0> (size=16,offset=0): f32[4]{0}
allocation 2: size 16, preallocated-temp:
 value: <1 fusion @0> (size=16,offset=0): f32[4]{0}
"""
HLO_PROTO = f"hlo_module {{ {MODULE} }} buffer_assignment {{ {ASSIGNMENT} }}"


def serialized(kind: str, text: str) -> bytes:
    """Return the bytes of a message of this kind."""
    data: bytes = message(kind, text).SerializeToString()
    return data
