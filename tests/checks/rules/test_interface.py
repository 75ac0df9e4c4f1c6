"""``parameter-mismatch`` and ``output-mismatch``."""

from pathlib import Path

import pytest

from checks.damage import found_in, replaced, tell

HEAD_1 = "allocation 1: size 32768, parameter 1, shape |f32[64,64]| at ShapeIndex {}:"
HEAD_3 = "allocation 3: size 8192, output shape is |f32[16,32]|, maybe-live-out:"


@pytest.mark.parametrize(
    ("field", "wrong", "sentence"),
    [
        ("1", "2", "parameter 2, but `Arg_1.2` is parameter 1, not 2"),
        (
            "f32[64,64]",
            "f32[64,65]",
            "shape f32[64,65], but the shape of `Arg_1.2{}` is f32[64,64]",
        ),
        (
            "{}",
            "{0}",
            "ShapeIndex {0}, but its value is `Arg_1.2{}`, at ShapeIndex {} of the parameter",
        ),
    ],
)
def test_what_an_allocation_says_of_its_parameter(
    sample: str, field: str, wrong: str, sentence: str
) -> None:
    head, _, tail = HEAD_1.rpartition(field)
    if field == "1":
        head, tail = (
            "allocation 1: size 32768, parameter ",
            ", shape |f32[64,64]| at ShapeIndex {}:",
        )
    assert tell(replaced(sample, HEAD_1, head + wrong + tail)) == [
        (
            "parameter-mismatch",
            f"4: {head}»{wrong}«{tail}",
            f"allocation 1 is said to hold {sentence}",
        )
    ]


def test_up_to_2023_the_shape_is_that_of_the_whole_parameter() -> None:
    text = (
        "BufferAssignment:\n"
        "allocation 0: size 8, parameter 0, shape |(f32[2], f32[3])| at ShapeIndex {0}:\n"
        " value: <1 p{0} @0> (size=8,offset=0): f32[2]{0}\n"
    )
    assert tell(text) == []
    told = tell(
        replaced(text, "|(f32[2], f32[3])| at ShapeIndex {0}", "|f32[3]| at ShapeIndex {0}")
    )
    assert [code for code, _, _ in told] == ["parameter-mismatch"]


def test_without_instructions_a_part_that_is_named_twice_is_told_once(sample: str) -> None:
    text = sample[: sample.index("\nTotal bytes used")]
    text = replaced(text, "parameter 1, shape |f32[64,64]|", "parameter 2, shape |f32[64,64]|")
    assert tell(text) == [
        (
            "parameter-mismatch",
            "6: allocation 2: size 16384, parameter »2«, shape |f32[64,32]| at ShapeIndex {}:",
            "parameter 2 at ShapeIndex {} has allocation 1 already",
        )
    ]


def test_the_shape_of_the_output(sample: str) -> None:
    head = HEAD_3.replace("[16,32]", "[16,33]")
    assert tell(replaced(sample, HEAD_3, head)) == [
        (
            "output-mismatch",
            "8: allocation 3: size 8192, output shape is |»f32[16,33]«|, maybe-live-out:",
            "allocation 3 says that the output is f32[16,33], but none of its values is as large",
        )
    ]


def test_an_output_that_is_not_said(sample: str) -> None:
    head = HEAD_3.replace(" output shape is |f32[16,32]|,", "")
    assert tell(replaced(sample, HEAD_3, head)) == [
        (
            "output-mismatch",
            "8: allocation »3«: size 8192, maybe-live-out:",
            "allocation 3: it holds the output, but does not say so",
        )
    ]


def test_module_text_tells_the_shape_of_the_output(compiled: Path) -> None:
    (path,) = compiled.glob("*-buffer-assignment.txt")
    text = path.read_text()
    said = next(line for line in text.splitlines() if "output shape is" in line)
    shape = said.split("output shape is |")[1].split("|")[0]
    path.write_text(replaced(text, said, said.replace(f"is |{shape}|", "is |f32[7]|")))
    (message,) = [
        finding.message for _, finding in found_in(compiled) if finding.code == "output-mismatch"
    ]
    assert message.endswith(f"says that the output is f32[7], but the program returns {shape}")


def test_a_parameter_without_an_allocation(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.unlink()
    (path,) = compiled.glob("*-buffer-assignment.txt")
    blocks = path.read_text().split("allocation ")
    last = next(number for number, block in enumerate(blocks) if ", parameter " in block)
    kept = [*blocks[:last], *blocks[last + 1 :]]
    head, *rest = kept
    path.write_text(
        head
        + "".join(
            f"allocation {number}:{block.partition(':')[2]}" for number, block in enumerate(rest)
        )
    )
    found = [finding for _, finding in found_in(compiled)]
    (message,) = {one.message for one in found if one.code == "parameter-mismatch"}
    assert message.startswith("no allocation holds parameter ")
