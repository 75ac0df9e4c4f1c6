"""Names that the programs use and that early releases of jax offer elsewhere.

Python imports this module at its start where ``make_dumps.py`` has put it on the path. It must not
appear in the call stacks that XLA dumps, which is why the programs are not started by a wrapper.
"""

from typing import Any

import jax

if not hasattr(jax, "shard_map"):  # before 0.6
    from jax.experimental.shard_map import shard_map

    def _shard_map(function: Any, *, check_vma: bool = True, **options: Any) -> Any:
        return shard_map(function, check_rep=check_vma, **options)

    jax.shard_map = _shard_map
