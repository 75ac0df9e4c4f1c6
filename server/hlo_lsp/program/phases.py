"""The part of a training step that an instruction belongs to, by the names that JAX and XLA give.

``jvp(...)`` in an operation name is the forward pass, ``transpose(...)`` the backward pass. What is
computed again has ``rematted_computation`` in its operation name (jax.checkpoint) or ``.remat`` in
its own name (XLA's rematerialization).
"""

REMATERIALIZED = "rematerialized"


def is_backward_pass(op_name: str) -> bool | None:
    """Return whether JAX names the backward pass or the forward pass; None for neither."""
    if "transpose(" in op_name:
        return True
    return False if "jvp(" in op_name else None


def is_checkpointed(op_name: str) -> bool:
    """Return whether JAX computes an operation again (``jax.checkpoint``)."""
    return "rematted_computation" in op_name


def is_rematerialized(name: str, op_name: str) -> bool:
    """Return whether an instruction computes again what was computed before."""
    return ".remat" in name or is_checkpointed(op_name)


def phase_of(name: str, op_name: str) -> str:
    """Return ``rematerialized``, ``backward``, ``forward``, or ``other`` for an instruction.

    Args:
        name: The name of the instruction.
        op_name: Its operation name, empty if it has none.
    """
    if is_rematerialized(name, op_name):
        return REMATERIALIZED
    return {True: "backward", False: "forward", None: "other"}[is_backward_pass(op_name)]


def split_scopes(op_name: str) -> tuple[str, ...]:
    """Return the scopes of an operation, and its name.

    XLA merges the names of operations: ``f/a/mul;f/a/add``, or ``f/(a/mul:b/add)`` for combined
    collectives. The scopes of the first one are returned, and the different names with commas.
    """
    whole, *others = _parts(op_name, ";") or ("",)
    *scopes, last = _parts(whole, "/") or (op_name,)
    combined = _parts(last[1:-1], ":") if last.startswith("(") and last.endswith(")") else ()
    if len(combined) > 1:
        *inner, last = _parts(combined[0], "/") or combined[:1]
        scopes += inner
        others += combined[1:]
    names = dict.fromkeys([last, *((_parts(name, "/") or (name,))[-1] for name in others)])
    return (*scopes, ", ".join(names))


def _parts(text: str, separator: str) -> tuple[str, ...]:
    """Split a text at separators that are not in brackets, and drop empty parts."""
    parts, depth = [""], 0
    for character in text:
        if character == separator and depth <= 0:
            parts.append("")
            continue
        depth += (character in "([{") - (character in ")]}")
        parts[-1] += character
    return tuple(part for part in parts if part)
