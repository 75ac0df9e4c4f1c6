"""Module texts with collectives in fusions, as XLA writes them for TPUs."""

FUSED_COLLECTIVE = """\
HloModule jit_f, is_scheduled=true

%begin (p: f32[8]) -> (f32[8], f32[16], s32[2]) {
  %p = f32[8]{0} parameter(0)
  %all-gather = f32[16]{0} all-gather(%p), channel_id=3, replica_groups={{0,1}}, dimensions={0}
  ROOT %c = (f32[8]{0}, f32[16]{0:S(1)}, s32[2]{0}) custom-call(%all-gather), custom_call_target="AsyncCollectiveStart"
}

%end (p.1: f32[8], q: f32[16]) -> f32[16] {
  %p.1 = f32[8]{0} parameter(0)
  %q = f32[16]{0:S(1)} parameter(1)
  %all-gather.1 = f32[16]{0} all-gather(%p.1), channel_id=3, replica_groups={{0,1}}, dimensions={0}
  ROOT %c.1 = f32[16]{0:S(1)} custom-call(%p.1, %q, %all-gather.1), custom_call_target="AsyncCollectiveDone"
}

ENTRY %main (x: f32[8]) -> (f32[8], f32[16]) {
  %x = f32[8]{0} parameter(0)
  %async-collective-start = (f32[8]{0}, f32[16]{0:S(1)}, s32[2]{0}) fusion(%x), kind=kCustom, calls=%begin
  %a = f32[8]{0} get-tuple-element(%async-collective-start), index=0
  %b = f32[16]{0:S(1)} get-tuple-element(%async-collective-start), index=1
  %y = f32[8]{0} sine(%x)
  %async-collective-done = f32[16]{0:S(1)} fusion(%a, %b), kind=kCustom, calls=%end
  ROOT %r = (f32[8]{0}, f32[16]{0:S(1)}) tuple(%y, %async-collective-done)
}
"""  # noqa: E501
"""A collective that starts in one fusion and ends in another."""

REDUCE_SCATTER = """\
HloModule jit_f, is_scheduled=true

%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %sum = f32[] add(%l, %r)
}

%all-reduce-scatter (p: f32[8]) -> f32[2] {
  %p = f32[8]{0} parameter(0)
  %all-reduce = f32[8]{0} all-reduce(%p), channel_id=3, replica_groups={{0,1,2,3}}, to_apply=%add
  %id = u32[] partition-id()
  ROOT %slice = f32[2]{0} dynamic-slice(%all-reduce, %id), dynamic_slice_sizes={2}
}

ENTRY %main (x: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  ROOT %fusion = f32[2]{0} fusion(%x), kind=kCustom, calls=%all-reduce-scatter
}
"""
"""A collective in one fusion, of which each device keeps a slice."""
