"""Tests for hlo_lsp.protos.profile_modules."""

from typing import Any

from hlo_lsp.protos.conversion import convert
from hlo_lsp.protos.profile_modules import CLASSES, modules_in, planes_of, program_of
from protos.messages import HLO_PROTO, MODULE_TEXT, serialized

_PROTO = serialized("HloProto", HLO_PROTO)


def profile(name: str, *devices: str, proto: bytes = _PROTO) -> bytes:
    """Return a profile with a module, and with planes of devices that have a line."""
    metadata: Any = CLASSES["XPlane"](name="/host:metadata")
    metadata.stat_metadata.add(key=3).value.name = "Hlo Proto"
    metadata.event_metadata.add(key=1).value.name = "not a module"
    entry = metadata.event_metadata.add(key=2)
    entry.value.name = name
    entry.value.stats.add(metadata_id=3, bytes_value=proto)
    planes = [metadata, *(CLASSES["XPlane"](name=one, lines=[b""]) for one in devices)]
    data: bytes = CLASSES["XSpace"](
        planes=[one.SerializeToString() for one in planes]
    ).SerializeToString()
    return data


def stems(data: bytes) -> list[str]:
    return [one.file_stem for one in modules_in(planes_of(data)[0])]


def test_text_is_that_of_the_proto() -> None:
    found = convert(profile("jit_f(12)"), "host.xplane.pb")
    assert found is not None
    text = found.sections[0]
    assert text.name == "module_0012.jit_f.cpu_after_optimizations.txt"
    assert "\n".join(text.lines) == MODULE_TEXT


def test_file_names_show_the_backend() -> None:
    assert stems(profile("f(1)", "/device:GPU:0")) == ["module_0001.f.gpu_after_optimizations"]
    tpu = profile("f(-1)", "/device:TPU:0")
    assert stems(tpu) == ["module_18446744073709551615.f.cl_0.after_optimizations"]


def test_file_names_show_the_compiler_without_events_of_the_device() -> None:
    found = profile("f(1)", proto=_PROTO + b"fingerprint_before_lhs")
    assert stems(found) == ["module_0001.f.gpu_after_optimizations"]


def test_names_of_modules_are_safe_as_file_names() -> None:
    (stem,) = stems(profile(f"../{'é' * 200}\n(1)"))
    assert "/" not in stem
    assert "\n" not in stem
    assert len(stem.encode()) < 200


def test_program_names() -> None:
    assert program_of("jit_f(a)(12)") == ("jit_f(a)", 12)
    assert program_of("jit_f") is None


def test_profile_without_modules_is_none() -> None:
    assert convert(CLASSES["XSpace"]().SerializeToString(), "host.xplane.pb") is None
