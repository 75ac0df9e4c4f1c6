"""Thunk sequences of all five generations (jaxlib 0.4.38 to 0.10.2)."""

import pytest

from hlo_lsp.syntax.records import BlankLine, BrokenRecord
from hlo_lsp.syntax.scanners import BranchLabel, ThunkRow, thunk_scanner
from syntax.record_fields import read_all, record_fields

_KERNEL = (
    ", launch dimensions = blocks: {2, 1, 1}, threads/block: {128, 1, 1}, cluster_dim = nullopt"
)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        pytest.param("kGemm  \t", (0, None, "kGemm", None, None), id="T0"),
        pytest.param(
            f"kKernel\t, kernel = loop_add_fusion_3{_KERNEL}",
            (0, None, "kKernel", "loop_add_fusion_3", None),
            id="T0 kernel",
        ),
        pytest.param(
            "kNcclAllReduceStart\t", (0, None, "kNcclAllReduceStart", None, None), id="T0 nccl"
        ),
        pytest.param(
            f"    kKernel       \t, kernel = wrapped_add{_KERNEL}",
            (1, None, "kKernel", "wrapped_add", None),
            id="T1 nested",
        ),
        pytest.param("012: kWhile \t  ", (0, 12, "kWhile", None, None), id="T2"),
        pytest.param(
            f"    017: kKernel\t, kernel = loop_compare_fusion{_KERNEL}",
            (1, 17, "kKernel", "loop_compare_fusion", None),
            id="T2 nested",
        ),
        pytest.param(
            "003: kKernel [prev=002 (1) | next=005 (2)] , kernel = wrapped_add, "
            f"profile_annotation = wrapped_add.1{_KERNEL}",
            (0, 3, "kKernel", "wrapped_add", "wrapped_add.1"),
            id="T3",
        ),
        pytest.param(
            "002: kCopy   [source       | sink        ] ",
            (0, 2, "kCopy", None, None),
            id="T3 no tail",
        ),
        pytest.param(
            "001: kCustomKernel [source       | next=009 (1)] loop_clamp_fusion grid: [1, 1, 1] "
            "threads: [1, 1, 1]  shared_memory: 0 bytes",
            (0, 1, "kCustomKernel", "loop_clamp_fusion", None),
            id="T4",
        ),
        pytest.param(
            "        1008: kCopy [prev=1002 (10) | next=1005 (2)] kCopy",
            (2, 1008, "kCopy", None, None),
            id="T4 nested",
        ),
        pytest.param(
            "005: kWhile        [prev=004 (1) | next=015 (1)]   ",
            (0, 5, "kWhile", None, None),
            id="T4 while",
        ),
        pytest.param(
            "007: kAsyncStart [source | sink] stream=communication_stream[0], async_id=006",
            (0, 7, "kAsyncStart", None, None),
            id="T4 async",
        ),
        pytest.param(
            "000: kCommandBuffer [source | sink] ",
            (0, 0, "kCommandBuffer", None, None),
            id="T4 command buffer",
        ),
    ],
)
def test_thunk(line: str, fields: tuple[object, ...]) -> None:
    names = ("depth", "id", "kind", "kernel", "annotation")
    assert record_fields(thunk_scanner().read([line], 0)) == (
        "ThunkRow",
        dict(zip(names, fields, strict=True)),
    )


@pytest.mark.parametrize(
    ("line", "name", "depth"),
    [
        ("condition:", "condition", None),  # never indented
        ("  body:", "body", 0),
        ("      body:", "body", 1),
        ("  branch_12:", "branch_12", 0),
        ("          true_branch:", "true_branch", 2),
        ("  false_branch:", "false_branch", 0),
    ],
)
def test_label_of_a_loop_or_conditional(line: str, name: str, depth: int | None) -> None:
    assert record_fields(thunk_scanner().read([line], 0)) == (
        "BranchLabel",
        {"name": name, "depth": depth},
    )


@pytest.mark.parametrize(
    "line", ["001: Kernel [source | sink] x", "condition", "  bod:", "12: kCopy \t", "Lorem ipsum"]
)
def test_broken_line(line: str) -> None:
    assert type(thunk_scanner().read([line], 0)) is BrokenRecord


def test_whole_sequence() -> None:
    records = read_all(
        thunk_scanner(),
        [
            "005: kWhile [prev=004 (1) | sink]   ",
            "condition:",
            "    006: kCustomKernel [source | sink] f grid: [1, 1, 1] threads: [1, 1, 1]",
            "  body:",
            "    007: kDynamicSliceFusion [source | sink] params=1, results=1",
            "        008: kCopy [source | sink] kCopy",
            "  ",
            "",
        ],
    )
    assert [type(record) for record in records] == [
        ThunkRow, BranchLabel, ThunkRow, BranchLabel, ThunkRow, ThunkRow, BlankLine, BlankLine,
    ]  # fmt: skip
    depths = [record.depth for record in records if isinstance(record, ThunkRow)]
    assert depths == [0, 1, 1, 2]
