"""Fixtures for all tests: the real dumps. What tests want to be seen is shown at the end."""

from pathlib import Path

import pytest
from hypothesis import settings

from dumps import CORPUS, unpacked

# A machine that does other work at the same time makes deadlines fail.
settings.register_profile("hlo-lsp", deadline=None)
settings.load_profile("hlo-lsp")

SHOWN = "shown"  # a property of a test: text for the end of the run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the oracles run over dumps that are not in the corpus."""
    parser.addoption(
        "--dumps",
        type=Path,
        action="append",
        metavar="DIR",
        help="run tests/oracles over this folder of dumps instead of the corpus (repeatable)",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded to be shown; also those that ran in other processes."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == SHOWN and getattr(report, "when", "") == "call":
                    terminalreporter.section(report.nodeid.rpartition("::")[2])
                    terminalreporter.write_line(str(text))


@pytest.fixture(scope="session")
def unpack_cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where archives are unpacked: kept from run to run, unless pytest keeps no cache."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    return tmp_path_factory.mktemp("corpus") if cache is None else cache.mkdir("corpus")


@pytest.fixture(scope="session")
def corpus_small(unpack_cache: Path) -> Path:
    """2784 files of small programs, by backend and compiler."""
    return unpacked(CORPUS / "small.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def corpus_generations(unpack_cache: Path) -> Path:
    """One compile in each form of the dumps that the other archives do not have."""
    return unpacked(CORPUS / "generations.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def train_l24(unpack_cache: Path) -> Path:
    """A train step of 33 500 instructions."""
    return unpacked(CORPUS / "tpu_v5e_train_L24.tar.xz", unpack_cache)


@pytest.fixture(scope="session")
def train_l96(unpack_cache: Path) -> Path:
    """A train step with a values file of 210 MB."""
    return unpacked(CORPUS / "tpu_v5e_train_L96.tar.xz", unpack_cache)
