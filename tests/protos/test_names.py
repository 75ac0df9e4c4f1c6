"""Names of protos, compressed files, and archives."""

import pytest

from hlo_lsp.protos.names import is_converted, is_skipped, module_stem, text_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m.after_optimizations.hlo.pb", "m.after_optimizations.txt"),
        ("m.hlo_proto.pb", "m.txt"),
        ("m.hlo_snapshot.pb.gz", "m.txt"),
        ("m.txt.gz", "m.txt"),
        ("m.hlo.xz", "m.hlo"),
        ("m.txt", None),
        ("compile_options.pb", None),
        ("dumps.tar.gz", None),
        ("trace.json.gz", None),
    ],
)
def test_text_names(name: str, expected: str | None) -> None:
    assert text_name(name) == expected


@pytest.mark.parametrize("name", ["a.pb", "a.hlo.pb.gz", "a.tar", "a.tgz", "a.txt.bz2"])
def test_converted_names(name: str) -> None:
    assert is_converted(name)


def test_texts_are_not_converted() -> None:
    assert not is_converted("a.txt")


def test_protos_of_texts_are_skipped() -> None:
    assert is_skipped("m.hlo.pb", ["m.txt"])
    assert not is_skipped("m.hlo.pb", ["m.hlo.pb"])


def test_archives_are_skipped() -> None:
    assert is_skipped("dumps.tar.gz", [])
    assert not is_skipped("m.txt", ["m.txt"])


def test_stems() -> None:
    assert module_stem("m.hlo.pb") == "m"
    assert module_stem("m.pb") == "m"
