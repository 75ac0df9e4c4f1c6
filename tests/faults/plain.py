"""One minimal, unambiguous defect of each code in a small dump."""

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
class Defect:
    """A replacement of text that a rule reports.

    Attributes:
        code: code of the rule.
        file: end of the name of the damaged file.
        old: text that occurs once in the file.
        new: text that replaces it.
        line_offset: reported line, counted from the line on which the text begins.
    """

    code: str
    file: str
    old: str
    new: str
    line_offset: int = 0


_CONSTANT = "  %constant.30 = f32[]{:T(128)} constant(0)\n"
_REDUCE_SUM = (
    "  %reduce_sum.0 = f32[]{:T(128)} reduce(%param_0, %constant.30), dimensions={0,1}, "
    'to_apply=%region_1.2, metadata={op_name="jit(don)/reduce_sum" stack_frame_id=4}\n'
)
_SIZES = "(33.2%, total: 1 048 576 bytes, current: 1 048 576 bytes, remaining:"
_ROW_A = f"      ├── a {_SIZES} 2 113 556 bytes)"
_ROW_B = f"      ├── b {_SIZES} 1 064 980 bytes)"
_LAST_ROW = (
    "      └── jit(don)/reduce_sum{0} (0.0%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)"
)
_NO_FRAME = "(0), metadata={stack_frame_id=9}"
_HEADER = "<19 dynamic-update-slice.1 @0>"
_C1 = " value: <14 c.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}\n"
_SLICE = " value: <19 dynamic-update-slice.1 @0> (size=32768,offset=0): f32[64,64]{1,0:T(8,128)}\n"

DEFECTS = (
    Defect("syntax", A, "allocation 7: size", "alocation 7: size"),
    Defect("section-order", L, "  BufferLiveRange:\n    b.1{}", "    b.1{}"),
    Defect("truncated", L, f"4 bytes)\n{_LAST_ROW}", "4 bytes)"),
    Defect("undefined-instruction", M, "add(%param_1.1, %param_0)", "add(%param_1.1, %param_9)"),
    Defect("undefined-computation", M, "to_apply=%region_1.2", "to_apply=%region_1.3"),
    Defect("use-before-definition", M, _CONSTANT + _REDUCE_SUM, _REDUCE_SUM + _CONSTANT),
    Defect("duplicate-name", M, _CONSTANT, _CONSTANT + _CONSTANT, 1),
    Defect("operand-count", M, "add(%param_1.1, %param_0)", "add(%param_1.1)"),
    Defect("missing-attribute", M, "(%fusion), index=1", "(%fusion)"),
    Defect("shape-mismatch", M, "(param_0: f32[512,512]", "(param_0: f32[512,513]", 1),
    Defect("parameter-number", M, "parameter(1)\n  %add.3", "parameter(7)\n  %add.3"),
    Defect("bad-stack-frame", M, "(0), metadata={stack_frame_id=5}", _NO_FRAME),
    Defect("frame-cycle", M, "_id=4 parent_frame_id=4}", "_id=4 parent_frame_id=5}"),
    Defect("size-mismatch", A, "<14 c.1 @0> (size=32768", "<14 c.1 @0> (size=16384"),
    Defect("out-of-bounds", SAMPLE, "(size=512,offset=49152)", "(size=512,offset=69632)"),
    Defect("total-mismatch", V, "used: 2135040", "used: 2135041"),
    Defect("duplicate-allocation", A, "allocation 8:", "allocation 7:"),
    Defect("allocation-numbering", A, "allocation 8:", "allocation 20:"),
    Defect("allocation-too-small", A, "allocation 3: size 32768", "allocation 3: size 16384"),
    Defect("allocation-slack", A, "allocation 3: size 32768", "allocation 3: size 65536"),
    Defect("nonzero-offset", A, _C1, _C1.replace("offset=0", "offset=4")),
    Defect("value-in-two-allocations", A, " value: <17", _C1 + " value: <17"),
    Defect("color-mismatch", A, "size 512, color 1", "size 512, color 2"),
    Defect("flag-contradiction", A, "512, page 0, preallocated-temp", "512, page 0, constant"),
    Defect("parameter-mismatch", A, "shape |f32[64,64]| at", "shape |f32[64,65]| at"),
    Defect("output-mismatch", A, "|(f32[512,512], f32[64,64]", "|(f32[512,512], f32[64,65]"),
    Defect("overlap", SAMPLE, "(size=512,offset=40960)", "(size=512,offset=36864)"),
    Defect("duplicate-value-id", V, "<12 fusion{0} @0>", "<11 fusion{0} @0>"),
    Defect("value-order", A, _C1 + _SLICE, _SLICE + _C1),
    Defect("value-set-mismatch", V, "<19 dynamic-update", "<99 dynamic-update"),
    Defect("header-mismatch", V, _HEADER, _HEADER.replace("slice.1", "slice.2")),
    Defect("position-mismatch", V, "  tuple.6 {2}\n", "  tuple.6 {1}\n"),
    Defect("use-mismatch", V, "  tuple.6, operand 2", "  tuple.6, operand 1"),
    Defect("shape-definition-mismatch", A, _C1, _C1.replace("{1,0:", "{0,1:")),
    Defect("human-size", V, "(2.04MiB)", "(2.14MiB)"),
    Defect("schedule-numbering", L, "    9:get", "    13:get"),
    Defect("schedule-mismatch", L, "2:constant.3\n    3:c.1", "2:c.1\n    3:constant.3"),
    Defect("live-range-unknown", L, "fusion{1}:8-12", "fusion{2}:8-12"),
    Defect("live-range-missing", L, "    c.1{}:0-7\n    constant.3", "    constant.3"),
    Defect("live-range-bounds", L, "constant.22{}:1-7", "constant.22{}:1-13"),
    Defect("live-range-start", L, "broadcast.16{}:6-7", "broadcast.16{}:5-7"),
    Defect("live-range-parameter", L, "b.1{}:0-12", "b.1{}:1-12"),
    Defect("live-range-order", L, "{0}:8-12\n    fusion{1}:8", "{1}:8-12\n    fusion{0}:8"),
    Defect("peak-moment", L, "Live ranges at 8", "Live ranges at 9"),
    Defect("peak-list", L, "    fusion{}: 16 bytes", "    fusion{3}: 16 bytes"),
    Defect("peak-bytes", L, "fusion{}: 16 bytes", "fusion{}: 24 bytes"),
    Defect("peak-cumulative", L, "3162128 bytes)", "3162126 bytes)"),
    Defect("stack-total", L, "total: 16 384 bytes", "total: 16 385 bytes"),
    Defect("stack-percent", L, "scatter (0.5%", "scatter (0.6%"),
    Defect("stack-order", L, f"{_ROW_A}\n{_ROW_B}", f"{_ROW_B}\n{_ROW_A}"),
    Defect("report-mismatch", R, "2×f32[64,64]", "3×f32[64,64]"),
)  # fmt: skip
