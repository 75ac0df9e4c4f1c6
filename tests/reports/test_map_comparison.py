"""The memory maps of two compiles with the boxes that correspond."""

from hlo_lsp.cost.chips import chips
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.map_comparison import compared_maps
from hlo_lsp.reports.memory_map import memory_map
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM, example


def _pairs(before: Compile, after: Compile) -> set[tuple[str, str]]:
    document = compared_maps([(before, after)])
    (comparison,) = document["comparisons"]
    modules = [document["modules"][comparison[side]] for side in ("before", "after")]
    names = [
        [
            module["strings"][module["boxes"]["name"][row]]
            for row in comparison["boxes"][side]
        ]
        for module, side in zip(modules, ("before", "after"), strict=True)
    ]  # fmt: skip
    return set(zip(*names, strict=True))


def test_renamed_values_correspond() -> None:
    renamed = [text.replace("%a", "%z.7").replace("2 a", "2 z.7") for text in (ASSIGNMENT, MODULE)]
    after = example(renamed[0], RANGES.replace("a{}", "z.7{}"), renamed[1])
    assert _pairs(example(), after) == {("x", "x"), ("a", "z.7"), *((n, n) for n in "bcr")}


def test_all_boxes_of_one_compile_correspond() -> None:
    document = compared_maps([(example(), example())])
    count = len(document["modules"][0]["boxes"]["id"])
    assert document["comparisons"][0]["boxes"]["before"] == list(range(count))


def test_new_value_has_no_counterpart() -> None:
    without = ASSIGNMENT.replace(" value: <4 c @0> (size=2048,offset=0): f32[512]{0}\n", "")
    module = MODULE.replace("cosine(%b)", "tan(%x)")
    assert ("c", "c") not in _pairs(example(without, RANGES, module), example())


def test_pair_without_assignment_is_left_out() -> None:
    document = compared_maps([(example(), example(RANGES, MODULE))])
    assert (document["modules"], document["comparisons"]) == ([], [])


def test_both_maps_have_the_least_time_on_a_chip() -> None:
    chip = chips()["v5e"]
    document = compared_maps([(example(), example())], lambda _: chip)
    titles = [module["time"]["title"] for module in document["modules"]]
    assert titles == ["least time on TPU v5e"] * 2


def _named(stem: str) -> Compile:
    texts = {"": MODULE, "-buffer-assignment": ASSIGNMENT, "-live-range": RANGES}
    return Compile([DumpFile.of_text(text, f"{stem}{end}.txt") for end, text in texts.items()])


def test_main_memories_of_two_platforms_are_a_pair() -> None:
    tpu, cpu = _named(STEM), _named("module_0001.jit_f.cpu_after_optimizations")
    pairs = [
        [(space["name"], space.get("pair")) for space in module["spaces"]]
        for module in compared_maps([(tpu, cpu)])["modules"]
    ]
    pair = "HBM -> main memory"
    assert pairs == [[("HBM", pair)], [("main memory", pair)]]
    assert all("pair" not in space for space in memory_map(tpu)["spaces"])
