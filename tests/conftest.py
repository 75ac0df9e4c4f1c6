"""Fixtures for all tests: the real dumps, and a summary with the texts that tests recorded."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from dumps import CORPUS, unpacked
from hlo_lsp.garbage_collection import reduce_gc_frequency

# As the command does: searching the objects of dumps for cycles would take much of the time.
reduce_gc_frequency()

# A machine that does other work at the same time makes deadlines fail. Continuous integration tries
# the same examples for every commit; runs by hand try new ones.
settings.register_profile("hlo-lsp", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("hlo-lsp")

SUMMARY = "summary"  # a property of a test: text for the end of the run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options to run the oracles on more or on other dumps."""
    parser.addoption(
        "--whole-corpus",
        action="store_true",
        help="run tests/oracles over all folders of the corpus, also those with known forms only",
    )
    parser.addoption(
        "--dumps",
        type=Path,
        action="append",
        metavar="DIR",
        help="run tests/oracles over this folder of dumps instead of the corpus (repeatable)",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the texts that tests recorded, in this process and in others."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == SUMMARY and getattr(report, "when", "") == "call":
                    terminalreporter.section(report.nodeid.rpartition("::")[2])
                    terminalreporter.write_line(str(text))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long groups of tests in VS Code; those of other editors come last.

    The processes with these groups wait for the installation of the editors, the others do not.
    """
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("editors") is None:
        return 1
    group = item.get_closest_marker("xdist_group")
    return 0 if group is not None and group.args[0].startswith("vscode-") else 2


@pytest.fixture(scope="session")
def unpack_cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for unpacked archives, which pytest's cache keeps from run to run."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    return tmp_path_factory.mktemp("corpus") if cache is None else cache.mkdir("corpus")


@pytest.fixture(scope="session")
def corpus_small(unpack_cache: Path) -> Path:
    """Return the folder with 2,784 files of small programs, by backend and compiler."""
    return unpacked(CORPUS / "small.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_protos(unpack_cache: Path) -> Path:
    """Return the folder with unpacked protos and the texts of the same compiles."""
    return unpacked(CORPUS / "protos.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_profiles(unpack_cache: Path) -> Path:
    """Return the folder with profiles of CPU programs, and what JAX reads in them."""
    return unpacked(CORPUS / "profiles.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_generations(unpack_cache: Path) -> Path:
    """Return the folder with one compile in each format that the other archives lack."""
    return unpacked(CORPUS / "generations.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_compact_gte(unpack_cache: Path) -> Path:
    """Return the folder with pairs of texts, with and without ``get-tuple-element``."""
    return unpacked(CORPUS / "compact_gte.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_whole(unpack_cache: Path) -> Path:
    """Return the folder with whole folders of jax 0.12: v5e, tpu7x, and cpu."""
    return unpacked(CORPUS / "whole.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def tpu7x_fsdp(unpack_cache: Path) -> Path:
    """Return the folder with a TPU7x program whose collectives the SparseCore runs."""
    return unpacked(CORPUS / "tpu7x_fsdp.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def train_l24(unpack_cache: Path) -> Path:
    """Return the folder with a train step of 33,500 instructions."""
    return unpacked(CORPUS / "tpu_v5e_train_L24.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def train_l96(unpack_cache: Path) -> Path:
    """Return the folder with a train step whose values file has 210 MB."""
    return unpacked(CORPUS / "tpu_v5e_train_L96.tar.xz", unpack_cache)
