"""The plainest damage of each code: one that leaves no doubt, in a small dump."""

from dataclasses import dataclass

A, V, L, R, M = (
    "-buffer-assignment",
    "-buffer-assignment-values",
    "-live-range",
    "-memory-usage-report",
    "",
)
SAMPLE = "sample_003"


@dataclass(frozen=True, slots=True)
class Plain:
    """Text that is put in place of another, in the file whose name ends so.

    The line is reported on which the new text begins, or one ``below`` it.
    """

    code: str
    file: str
    old: str
    new: str
    below: int = 0


_CONSTANT = "  %constant.30 = f32[]{:T(128)} constant(0)\n"
_SUM = (
    "  %reduce_sum.0 = f32[]{:T(128)} reduce(%param_0, %constant.30), dimensions={0,1}, "
    'to_apply=%region_1.2, metadata={op_name="jit(don)/reduce_sum" stack_frame_id=4}\n'
)
_MUCH = "(33.2%, total: 1 048 576 bytes, current: 1 048 576 bytes, remaining:"
_A = f"      ├── a {_MUCH} 2 113 556 bytes)"
_B = f"      ├── b {_MUCH} 1 064 980 bytes)"
_LAST = (
    "      └── jit(don)/reduce_sum{0} (0.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)"
)
_NO_FRAME = "(0), metadata={stack_frame_id=9}"
_C1 = " value: <14 c.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}\n"
_SLICE = " value: <19 dynamic-update-slice.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}\n"

PLAIN = (
    Plain("syntax", A, "allocation 7: size", "alocation 7: size"),
    Plain("section-order", L, "  BufferLiveRange:\n    b.1{}", "    b.1{}"),
    Plain("truncated", L, f"4 bytes)\n{_LAST}", "4 bytes)"),
    Plain("undefined-instruction", M, "add(%param_1.1, %param_0)", "add(%param_1.1, %param_9)"),
    Plain("undefined-computation", M, "to_apply=%region_1.2", "to_apply=%region_1.3"),
    Plain("use-before-definition", M, _CONSTANT + _SUM, _SUM + _CONSTANT),
    Plain("duplicate-name", M, _CONSTANT, _CONSTANT + _CONSTANT, 1),
    Plain("operand-count", M, "add(%param_1.1, %param_0)", "add(%param_1.1)"),
    Plain("missing-attribute", M, "(%fusion), index=1", "(%fusion)"),
    Plain("shape-mismatch", M, "(param_0: f32[512,512]", "(param_0: f32[512,513]", 1),
    Plain("parameter-number", M, "parameter(1)\n  %add.3", "parameter(7)\n  %add.3"),
    Plain("bad-stack-frame", M, "(0), metadata={stack_frame_id=5}", _NO_FRAME),
    Plain("frame-cycle", M, "_id=4 parent_frame_id=4}", "_id=4 parent_frame_id=5}"),
    Plain("size-mismatch", A, "<14 c.1 @0> (size=32768", "<14 c.1 @0> (size=16384"),
    Plain("out-of-bounds", SAMPLE, "(size=512,offset=49152)", "(size=512,offset=69632)"),
    Plain("total-mismatch", V, "used: 2135040", "used: 2135041"),
    Plain("duplicate-allocation", A, "allocation 8:", "allocation 7:"),
    Plain("allocation-numbering", A, "allocation 8:", "allocation 20:"),
    Plain("allocation-too-small", A, "allocation 3: size 32768", "allocation 3: size 16384"),
    Plain("allocation-slack", A, "allocation 3: size 32768", "allocation 3: size 65536"),
    Plain("nonzero-offset", A, _C1, _C1.replace("offset=0", "offset=4")),
    Plain("value-in-two-allocations", A, " value: <17", _C1 + " value: <17"),
    Plain("color-mismatch", A, "size 512, color 1", "size 512, color 2"),
    Plain("flag-contradiction", A, "512, page 0, preallocated-temp", "512, page 0, constant"),
    Plain("parameter-mismatch", A, "shape |f32[64,64]| at", "shape |f32[64,65]| at"),
    Plain("output-mismatch", A, "|(f32[512,512], f32[64,64]", "|(f32[512,512], f32[64,65]"),
    Plain("overlap", SAMPLE, "(size=512,offset=40960)", "(size=512,offset=36864)"),
    Plain("duplicate-value-id", V, "<12 fusion{0} @0>", "<11 fusion{0} @0>"),
    Plain("value-order", A, _C1 + _SLICE, _SLICE + _C1),
    Plain("value-set-mismatch", V, "<19 dynamic-update", "<99 dynamic-update"),
    Plain("header-mismatch", V, "<19 dynamic-update-slice.1 @0>", "<19 dynamic-update-slice.2 @0>"),
    Plain("position-mismatch", V, "  tuple.6 {2}\n", "  tuple.6 {1}\n"),
    Plain("use-mismatch", V, "  tuple.6, operand 2", "  tuple.6, operand 1"),
    Plain("shape-definition-mismatch", A, _C1, _C1.replace("{1,0:", "{0,1:")),
    Plain("human-size", V, "(2.04MiB)", "(2.14MiB)"),
    Plain("schedule-numbering", L, "    9:get", "    13:get"),
    Plain("schedule-mismatch", L, "2:constant.3\n    3:c.1", "2:c.1\n    3:constant.3"),
    Plain("live-range-unknown", L, "fusion{1}:8-12", "fusion{2}:8-12"),
    Plain("live-range-missing", L, "    c.1{}:0-7\n    constant.3", "    constant.3"),
    Plain("live-range-bounds", L, "constant.22{}:1-7", "constant.22{}:1-13"),
    Plain("live-range-start", L, "broadcast.16{}:6-7", "broadcast.16{}:5-7"),
    Plain("live-range-parameter", L, "b.1{}:0-12", "b.1{}:1-12"),
    Plain("live-range-order", L, "{0}:8-12\n    fusion{1}:8", "{1}:8-12\n    fusion{0}:8"),
    Plain("peak-moment", L, "Live ranges at 8", "Live ranges at 9"),
    Plain("peak-list", L, "    fusion{}: 16 bytes", "    fusion{3}: 16 bytes"),
    Plain("peak-bytes", L, "fusion{}: 16 bytes", "fusion{}: 24 bytes"),
    Plain("peak-cumulative", L, "3162128 bytes)", "3162126 bytes)"),
    Plain("stack-total", L, "total: 16 384 bytes", "total: 16 385 bytes"),
    Plain("stack-percent", L, "scatter (0.5%", "scatter (0.6%"),
    Plain("stack-order", L, f"{_A}\n{_B}", f"{_B}\n{_A}"),
    Plain("report-mismatch", R, "2×f32[64,64]", "3×f32[64,64]"),
)  # fmt: skip
