"""``hlo-lsp export`` of costs and measured times."""

import gzip
from pathlib import Path
from typing import Any

from cli.command import run
from hlo_lsp.protos.messages import message_class
from hlo_lsp.reports.pprof import PPROF


def test_profile_is_exported_with_python_lines(corpus_profiles: Path, tmp_path: Path) -> None:
    output = tmp_path / "time.pb.gz"
    path = corpus_profiles / "jax_0_12" / "train"
    assert run("report", path, "--metric", "time", "--as", "pprof", "-o", output).status == 0
    data = gzip.decompress(output.read_bytes())
    profile: Any = message_class(PPROF, "Profile").FromString(data)
    strings = profile.string_table
    assert [strings[one.type] for one in profile.sample_type] == ["time", "occurrences"]
    assert any(name.endswith("profiled_programs.py") for name in strings)
    assert sum(one.value[0] for one in profile.sample) > 1_000_000


def test_trace_of_cost_needs_a_chip(dump: Path) -> None:
    found = run("report", dump, "--metric", "cost", "-o", dump / "cost.pftrace")
    assert found.status == 2
    assert found.err.endswith("unknown chip, so there are no times; use --chip\n")


def test_kernels_have_no_metric(dump: Path) -> None:
    found = run("report", dump, "--metric", "cost", "--as", "csv")
    assert (found.status, found.err) == (2, "hlo-lsp: the table of kernels has no metric\n")
