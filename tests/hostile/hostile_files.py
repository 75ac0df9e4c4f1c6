"""Compiles whose names, in all their fields and files, are the payload."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from e2e.compiles import Compile, copy_dump
from hostile.payload import (
    FOLDER_PAYLOAD,
    NAME_PAYLOAD,
    PAYLOAD,
    RAW_PAYLOAD,
    STRING_PAYLOAD,
    with_payload,
    with_unknown_forms,
)
from oom_messages import LONG, text_of
from profiles.written import Event, Stats, profile


@dataclass(frozen=True)
class HostileFiles:
    """Compiles with the payload in all their fields; ``damaged`` also has unknown forms."""

    tpu: Compile
    gpu: Compile
    changed: Path
    damaged: Compile
    configured: Path

    @property
    def log(self) -> Path:
        return self.tpu.folder / "oom.log"

    @property
    def profile(self) -> Path:
        return self.tpu.folder / "run.xplane.pb"

    @property
    def compiles(self) -> tuple[Compile, ...]:
        return self.tpu, self.gpu, self.damaged


def hostile_files(corpus: Path, folder: Path) -> HostileFiles:
    """Write the compiles into a folder."""
    tpu = hostile_dump(corpus, "tpu", folder / "tpu")
    gpu = hostile_dump(corpus, "gpu", folder / "gpu")
    changed = hostile_dump(corpus, "tpu", folder / "changed")
    for path in changed.files:
        if path.suffix == ".txt":
            text = re.sub(r"\(size=(\d{4,}),", r"(size=9\1,", path.read_text("utf-8"))
            path.write_text(text, "utf-8")
        elif path.suffix == ".debug_options":
            path.write_text(f"xla_b{PAYLOAD}: {PAYLOAD}\n", "utf-8")
    damaged = damaged_copy(tpu, folder / "damaged")
    configured = damaged_copy(tpu, folder / "configured").folder
    write_configuration(configured)
    return HostileFiles(tpu, gpu, changed.folder, damaged, configured)


def hostile_dump(corpus: Path, name: str, folder: Path) -> Compile:
    """Write a compile with the payload in each of its files, beside files of other kinds."""
    compile_ = copy_dump(corpus, name, folder)
    for path in compile_.files:
        path.write_text(with_payload(path.read_text("utf-8")), "utf-8")
    stem = compile_.module.name.partition(".cl_")[0].partition(".sm_")[0]
    flags = f"xla_{PAYLOAD}: {PAYLOAD}\nxla_gpu_enable: {PAYLOAD}\n"
    (folder / f"{stem}.debug_options").write_text(flags, "utf-8")
    (folder / f"{stem}.tpu_comp_env.txt").write_text(flags, "utf-8")
    log = re.sub(r'op_name="[^"]*"', lambda _: f'op_name="{STRING_PAYLOAD}"', text_of(LONG))
    log = re.sub(r"(XLA label|Allocation type): .*", lambda match: f"{match[1]}: {PAYLOAD}", log)
    (folder / "oom.log").write_text(f"{PAYLOAD}\n{log}", "utf-8")
    (folder / "run.xplane.pb").write_bytes(_profile(compile_.module))
    return compile_


def damaged_copy(compile_: Compile, folder: Path) -> Compile:
    """Return a copy with unknown forms, and hostile names of files."""
    stem = Path(compile_.stem).name
    module = stem.split(".")[1]
    new = stem.replace(module, f"\xa0::error::x\n# BREAK ##[x] {NAME_PAYLOAD}")
    folder.mkdir()
    for path in compile_.files:
        target = folder / path.name.replace(module, new.split(".", 1)[1].rsplit(".cl_", 1)[0])
        shutil.copyfile(path, target)
        if path.suffix == ".txt" and path.name.startswith(stem):
            target.write_text(with_unknown_forms(path.read_text("utf-8")), "utf-8")
    (folder / f"{FOLDER_PAYLOAD}.txt").write_text(f"HloModule m\n{PAYLOAD}\n", "utf-8")
    return Compile(folder, new)


def write_configuration(folder: Path) -> None:
    """Write a configuration whose keys and values are the payload."""
    name = _toml(RAW_PAYLOAD.replace("\\", "").replace('"', ""))
    budget = f"[[budget]]\nmodule = {name}\npeak = {name}\n{name} = 1\n"
    budget += f"[[budget]]\nforbidden = [{name}]\ndonated = [{name}]\npeak = {{{name} = 1}}\n"
    config = f"{name} = 1\nselect = [{name}]\n{budget}[severity]\n{name} = {name}\n"
    (folder / "hlo-lsp.toml").write_text(config, "utf-8")


def _toml(text: str) -> str:
    escaped = "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)
    return f'"{escaped}"'


def _profile(module: Path) -> bytes:
    """Return a profile of a module, and of one whose names are the payload."""
    names = re.findall(r"^  (?:ROOT )?%(\S+) = ", module.read_text("utf-8"), re.MULTILINE)
    known: Stats = {"hlo_module": "jit_while_fn", "program_id": 12}
    ours = [Event(one, 1000 * at, 900, {**known, "hlo_op": one}) for at, one in enumerate(names)]
    hostile: Stats = {"hlo_op": RAW_PAYLOAD, "hlo_module": RAW_PAYLOAD, "program_id": 99}
    events = [Event(RAW_PAYLOAD, 0, 5000, hostile), Event(RAW_PAYLOAD, 9000, 5)]
    device = f"/device:GPU:0 {RAW_PAYLOAD}"
    return profile(
        {"/device:GPU:0": {"Stream #1": ours}, device: {f"Stream #{RAW_PAYLOAD}": events}}
    )
