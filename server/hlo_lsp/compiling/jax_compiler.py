"""A program that compiles module texts with the jax of the Python that runs it.

It is the only module that uses private interfaces of jax and jaxlib. It runs with jax from
0.4.35 on, and imports nothing of ``hlo_lsp``. Each line of standard input is a request, and each
line of standard output is an answer (``compiler_process.py``). XLA itself writes the dump.
"""

import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Json = dict[str, Any]
_ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # otherwise, one process at a time can load libtpu
    "TPU_LOG_DIR": "disabled",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}
_HOST_DEVICES = "--xla_force_host_platform_device_count="
_COMPILERS = {"tpu": ("libtpu",), "cuda": ("jax-cuda12-pjrt", "jax-cuda13-pjrt")}  # one of these
_MAX_ARGUMENTS = 2000  # of a TPU program; JAX passes more as one tuple (should_tuple_args)
# A module without anything, whose dump has the defaults of all options.
_EMPTY_MODULE = "HloModule empty\n\nENTRY e {\n  ROOT c = f32[] constant(0)\n}\n"
_OPTION_LINE = re.compile(r"^(\w+): (.*)$", re.MULTILINE)
_REFUSED_OPTION = re.compile(r"(?:No such compile option: '|While setting option |into flag )(\w+)")
_OPTIONS_FILE = re.compile(r"\.cl_(\d+)\.tpu_comp_env\.txt$")
# The conversion adds it to custom calls, and libtpu refuses it.
_NO_TILINGS = re.compile(r", result_tilings = \[(?:\[\](?:, )?)*\]")
_ALIASES = "mhlo.input_output_alias"  # of a module that was HLO
_ALIASED = re.compile(r"parameter_number = (\d+)")
_DONATION_ATTRIBUTES = ("jax.buffer_donor", "tf.aliasing_output")
_BOOLEANS = {"true": True, "false": False}  # of a text, XLA parses only numbers and enumerators
_LEVELS = {"O0": 9, "O1": 19, "O2": 29, "O3": 39}  # ExecutionOptions::EffortLevel
_MEMORY_KINDS = {"5": "pinned_host"}  # Layout::kHostMemorySpace


class Stages:
    """The stages of a compile and their times in seconds; each is announced when it begins."""

    def __init__(self, answer: Callable[[Json], None]) -> None:
        self._answer, self._start, self.name = answer, time.monotonic(), ""
        self.seconds: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """End the current stage, and begin another one; an empty name ends the last stage."""
        if self.name:
            self.seconds[self.name] = round(time.monotonic() - self._start, 3)
        self._start, self.name = time.monotonic(), name
        if name:
            self._answer({"stage": name})


class Jax:
    """The interfaces of jax and jaxlib, which differ between releases."""

    def __init__(self) -> None:
        import jax  # noqa: PLC0415  # after the environment is set
        from jax._src.interpreters import mlir  # noqa: PLC0415
        from jax._src.lib import xla_client  # noqa: PLC0415
        from jax._src.lib.mlir import ir  # noqa: PLC0415

        self._devices = jax.devices
        self._ir, self._make_context, self._client = ir, mlir.make_ir_context, xla_client
        early: Any = getattr(xla_client, "_xla", None)
        self._jax = self._hlo = early
        with suppress(ImportError):  # before 0.6.1 and 0.9, these are in _xla
            self._jax = self._hlo = import_module("jaxlib._jax")
            self._hlo = import_module("jaxlib._hlo")
        self._defaults: dict[str, tuple[int | None, dict[str, str]]] = {}
        self.versions = {"jax": jax.__version__}

    def text(self, request: Json) -> tuple[Any, bool]:
        """Return a program as MLIR, and whether it is as JAX passed it to the compiler.

        A conversion from HLO changes the order of operations, which decides ties in the compiler.
        """
        text = request.get("mlir")
        try:
            with self._make_context():
                if text is not None and self._ir.Module.parse(text):
                    return text, True
        except Exception:  # noqa: BLE001  # of a release with other dialects
            traceback.print_exc()
        return self._from_hlo(request["text"]), False

    def _from_hlo(self, text: str) -> Any:
        module = self._hlo.hlo_module_from_text(text)
        computation = self._hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        found = self._jax.mlir.xla_computation_to_mlir_module(computation)
        return _NO_TILINGS.sub("", found) if isinstance(found, str) else found

    def module(self, text: Any, request: Json) -> Any:
        """Return an MLIR module with the layouts, memory spaces, and donations of a request.

        XLA takes them from attributes of arguments and results, and the conversion from HLO leaves
        out layouts and memory spaces.
        """
        with self._make_context():
            module = self._ir.Module.parse(text)
            aliases = module.operation.attributes
            aliased = str(aliases[_ALIASES]) if _ALIASES in aliases else ""
            request["aliased"] = list(map(int, _ALIASED.findall(aliased)))
            if aliased and request.get("no_donation"):
                del aliases[_ALIASES]
            for one in module.body.operations:
                attributes = one.attributes
                if "sym_name" in attributes and str(attributes["sym_name"]) == '"main"':
                    self._set_attributes(one, request)
            return module

    def _set_attributes(self, main: Any, request: Json) -> None:
        ir, modes = self._ir, request.get("layout_modes", {})
        function = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        sides = (("arg_attrs", "arg", function.inputs), ("res_attrs", "out", function.results))
        for key, side, types in sides:
            found: list[Json] = [{} for _ in types]
            if key in main.attributes:
                for own, one in zip(found, ir.ArrayAttr(main.attributes[key]), strict=True):
                    own.update({name.name: name.attr for name in ir.DictAttr(one)})
            for own, layout in zip(found, modes.get(f"{side}_layout_modes", ()), strict=False):
                if layout != "default":
                    own["mhlo.layout_mode"] = ir.StringAttr.get(layout)
            for own, space in zip(found, modes.get(f"{side}_memory_spaces", ()), strict=False):
                if space in _MEMORY_KINDS:
                    own["mhlo.memory_kind"] = ir.StringAttr.get(_MEMORY_KINDS[space])
            if side == "arg":
                request["tupled"] = len(found) > _MAX_ARGUMENTS
                for number, own in enumerate(found):
                    self._set_donation(own, number, request)
            if any(found):
                main.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(one) for one in found])

    def _set_donation(self, own: Json, number: int, request: Json) -> None:
        if request.get("no_donation"):
            for name in _DONATION_ATTRIBUTES:
                own.pop(name, None)
        is_aliased = number in request["aliased"] and not request.get("no_donation")
        is_donated = is_aliased or any(name in own for name in _DONATION_ATTRIBUTES)
        if number in request.get("donated", ()) and not is_donated:
            own["jax.buffer_donor"] = self._ir.BoolAttr.get(True)

    def devices(self, request: Json) -> list[Any]:
        """Return the devices to compile for; those of a TPU or a GPU need not exist."""
        platform, topology = request["platform"], request["topology"]
        if platform == "cpu":
            return list(self._devices("cpu"))
        from jax.experimental import topologies  # noqa: PLC0415

        for package in _COMPILERS[platform]:
            with suppress(PackageNotFoundError):
                self.versions[package] = version(package)
        if not any(one in self.versions for one in _COMPILERS[platform]):
            raise PackageNotFoundError(_COMPILERS[platform][-1])
        gpu = {"topology": topology, "target_config": request.get("target_config")}
        name, more = (topology, {}) if platform == "tpu" else ("", gpu)
        return list(topologies.get_topology_desc(name, platform, **more).devices)

    def compile(self, module: Any, devices: list[Any], request: Json, folder: str) -> Any:
        """Compile a module, and return the executable; its dump is in the folder."""
        client, options = devices[0].client, self.options(request, devices, folder)
        name = "compile_and_load" if client.platform == "cpu" else "compile"
        compile_ = getattr(client, name, client.compile)
        listed = self._jax.DeviceList(tuple(devices))
        with module.context:
            text = module.operation.get_asm(enable_debug_info=True)
            for arguments in ((module, listed), (text, listed)):  # refused by early releases
                with suppress(TypeError):
                    return compile_(*arguments, options)
            return compile_(text, options)

    def options(self, request: Json, devices: list[Any], folder: str) -> Any:
        """Return the options of a compile that writes its dump into a folder."""
        import numpy  # noqa: PLC0415

        options = self._client.CompileOptions()
        shape = request["replicas"], request["partitions"]
        options.num_replicas, options.num_partitions = shape
        ids = numpy.array([one.id for one in devices], dtype=int).reshape(shape)
        options.device_assignment = self._client.DeviceAssignment.create(ids)
        is_tpu = request["platform"] == "tpu"
        options.parameter_is_tupled_arguments = is_tpu and request.get("tupled", False)
        wanted = dict(request.get("build", {}))
        for name, level in request.get("effort", {}).items():
            wanted[name] = _LEVELS.get(level, 0)
        for name, value in wanted.items():
            if hasattr(type(options.executable_build_options), name):
                setattr(options.executable_build_options, name, value)
        overrides = {
            name: _BOOLEANS.get(value, value) for name, value in request.get("options", {}).items()
        }
        overrides |= {"xla_dump_to": folder, "xla_dump_hlo_as_text": True}
        options.env_option_overrides = list(overrides.items())
        return options

    def changed_options(self, request: Json) -> dict[str, str] | None:
        """Return the options that a dump's compile changed, None if it is of another compiler."""
        dumped, topology = request.get("dumped_options"), request.get("dumped_topology", "")
        if not dumped:
            return {}
        if topology not in self._defaults:
            folder = os.path.join(request["scratch"], "defaults")
            one = {"platform": "tpu", "topology": topology, "replicas": 1, "partitions": 1}
            devices = self.devices(one)[:1]
            self.compile(self.module(self._from_hlo(_EMPTY_MODULE), {}), devices, one, folder)
            self._defaults[topology] = _dumped_options(folder)
        change, defaults = self._defaults[topology]
        if change != request["change"]:
            return None
        return {name: one for name, one in dumped.items() if defaults.get(name, one) != one}


def _dumped_options(folder: str) -> tuple[int | None, dict[str, str]]:
    """Return the change number of libtpu and the values of all its options, from a dump."""
    for name in os.listdir(folder):
        match = _OPTIONS_FILE.search(name)
        if match is not None:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return int(match[1]), dict(_OPTION_LINE.findall(file.read()))
    return None, {}


def _compile(jax: Jax, request: Json, stages: Stages) -> Json:
    if request["host_devices"] > 1:  # for one, XLA would list the flag as changed
        os.environ["XLA_FLAGS"] = f"{_HOST_DEVICES}{request['host_devices']}"
    stages.begin("parse")
    text, is_original = jax.text(request)
    module = jax.module(text, request)
    stages.begin("find devices")
    devices = jax.devices(request)
    count = request["replicas"] * request["partitions"]
    by_id = {one.id: one for one in devices}
    ids = request.get("device_ids") or ()
    if ids and by_id.keys() >= set(ids):
        devices = [by_id[one] for one in ids]
    if len(devices) < count:
        raise ValueError(f"the program needs {count} devices, and there are {len(devices)}")
    stages.begin("read options")
    changed = jax.changed_options(request)
    inherited = {**(changed or {}), **request.get("inherited_options", {})}
    own, unknown = request.get("options", {}), []
    stages.begin("compile")
    while True:
        request["options"] = {**inherited, **own}
        try:
            executable = jax.compile(module, devices[:count], request, request["folder"])
            break
        except Exception as error:
            refused = _REFUSED_OPTION.search(str(error))
            if refused is None or refused[1] in own or refused[1] not in inherited:
                raise
            unknown.append(refused[1])  # of another release
            del inherited[refused[1]]
    stages.begin("")
    memory = executable.get_compiled_memory_stats()
    numbers = {name: getattr(memory, name) for name in dir(memory) if name[0] != "_"}
    return {
        "versions": jax.versions,
        "device": devices[0].device_kind,
        "is_original": is_original,
        "changed_options": changed,
        "unknown_options": unknown,
        "memory": {name: one for name, one in numbers.items() if isinstance(one, int)},
    }


def main() -> None:
    """Compile the text of each request."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer

    def answer(content: Json) -> None:
        print(json.dumps(content), file=answers, flush=True)

    os.environ.update(_ENVIRONMENT)
    stages = Stages(answer)
    stages.begin("load jax")  # while the other process reads the dump
    jax = Jax()
    stages.begin("")
    for line in sys.stdin.buffer:
        try:
            found = _compile(jax, json.loads(line), stages)
        except Exception as error:  # noqa: BLE001  # the other process shows it
            traceback.print_exc()
            found = {"error": str(error), "type": type(error).__name__, "failed": stages.name}
        answer({**found, "seconds": stages.seconds})
        stages = Stages(answer)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file
    main()
