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
    """Return the parts of an operation name; a slash inside of brackets does not separate parts."""
    parts, depth = [""], 0
    for character in op_name:
        if character == "/" and depth <= 0:
            parts.append("")
            continue
        depth += (character in "([{") - (character in ")]}")
        parts[-1] += character
    return tuple(part for part in parts if part) or (op_name,)
