"""Values that a program asks to keep in host memory."""

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.offload import OffloadRequest, offload_requests
from offload_texts import DEVICE, HOST, ONE, STEM, TWO, texts


def requests(
    before: str, *, size: int = 256, attributes: str = "", backend: str = ""
) -> tuple[OffloadRequest, ...]:
    original, compiled = texts(before, size=size, attributes=attributes)
    module = DumpFile.of_text(compiled, f"{STEM}.{backend}after_optimizations.txt")
    unoptimized = DumpFile.of_text(original, f"{STEM}.before_optimizations.txt")
    for file in (module, unoptimized):
        file.refresh()
    return offload_requests(Compile([module], others=[unoptimized]))


def test_transfer_of_same_size_is_found() -> None:
    (found,) = requests(ONE)
    assert found.transfer is not None
    assert found.transfer.instruction.name == "s1"
    assert (found.bytes, str(found.source)) == (1024, "/home/user/model.py:7")


def test_annotations_of_one_value_are_one_request() -> None:
    text = f"  %g = f32[256] custom-call(%a), {HOST}\n{ONE.replace('(%a)', '(%g)')}"
    assert len(requests(text)) == 1


def test_transfer_of_one_partition_is_found() -> None:
    (found,) = requests(ONE, size=64, attributes=", num_partitions=4")
    assert found.transfer is not None


@pytest.mark.parametrize(
    ("before", "size", "backend", "reason"),
    [
        (ONE, 128, "", "no instruction of the compiled module moves 1.0 KiB to host memory"),
        (ONE, 128, "cpu_", "the memory of a CPU is host memory"),
        (
            f"{ONE.replace('ROOT ', '')}\n  ROOT %r = f32[256] custom-call(%h), {DEVICE}",
            128,
            "",
            "it is moved back without another use",
        ),
        (
            f"{ONE.replace('ROOT ', '')}\n  ROOT %r = f32[256] cosine(%a)",
            128,
            "",
            "nothing uses the value in host memory",
        ),
    ],
)
def test_missing_transfer_has_a_reason(before: str, size: int, backend: str, reason: str) -> None:
    (found,) = requests(before, size=size, backend=backend)
    assert (found.transfer, found.reason) == (None, reason)


def test_second_request_of_a_size_needs_its_own_transfer() -> None:
    found = requests(TWO)
    assert sorted(one.reason for one in found) == [
        "",
        "only 1 instruction of the module moves 1.0 KiB to host memory",
    ]


def test_program_without_requests_has_none() -> None:
    assert requests("  ROOT %r = f32[256] cosine(%a)") == ()


def test_request_in_a_loop_counts_each_iteration() -> None:
    original, compiled = texts(ONE)
    entry = original[original.index("ENTRY") :].replace("ENTRY %main", "%body")
    loop = (
        "ENTRY %main (x.1: f32[256]) -> f32[256] {\n  %x.1 = f32[256] parameter(0)\n"
        "  ROOT %w = f32[256] while(%x.1), condition=%c, body=%body,"
        ' backend_config={"known_trip_count":{"n":"8"}}\n}\n'
    )
    before = f"HloModule jit_f\n\n{entry}\n{loop}"
    (found,) = offload_requests(
        Compile(
            [DumpFile.of_text(compiled, f"{STEM}.after_optimizations.txt")],
            others=[DumpFile.of_text(before, f"{STEM}.before_optimizations.txt")],
        )
    )
    assert (found.bytes, found.executions, found.bytes_per_run) == (1024, 8, 8192)
