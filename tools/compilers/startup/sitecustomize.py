"""Names that early releases of jax offer elsewhere, and the results of ``memory_analysis()``.

Python imports this module at its start where ``compilation.py`` has put it on the path. It must not
appear in the call stacks that XLA dumps, which is why the programs are not started by a wrapper.
``memory_analysis()`` runs after the compile. It prints its numbers as JSON, with the name of the
buffer assignment that this compile dumped.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jax

if not hasattr(jax, "shard_map"):  # before 0.6
    from jax.experimental.shard_map import shard_map

    def _shard_map(function: Any, *, check_vma: bool = True, **options: Any) -> Any:
        return shard_map(function, check_rep=check_vma, **options)

    jax.shard_map = _shard_map

_memory_analysis = jax.stages.Compiled.memory_analysis


def _print_memory_analysis(compiled: Any) -> Any:
    stats = _memory_analysis(compiled)
    numbers = {
        name: value
        for name in dir(stats)
        if not name.startswith("_") and type(value := getattr(stats, name)) is int
    }
    dumped = Path(sys.argv[1]).glob("*-buffer-assignment.txt")
    newest = max(dumped, key=lambda path: path.stat().st_mtime_ns, default=None)
    if newest is not None:
        print("## memory", json.dumps({"file": newest.name, "numbers": numbers}), flush=True)
    return stats


jax.stages.Compiled.memory_analysis = _print_memory_analysis
