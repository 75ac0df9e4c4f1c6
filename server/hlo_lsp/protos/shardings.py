"""The text of shardings and device lists (hlo_sharding.cc, named_sharding.cc, replica_group.cc)."""

from collections.abc import Sequence
from typing import Any

from hlo_lsp.hlo.notation import index_text
from hlo_lsp.protos.shapes import annotated, decoded, joined, metadata_text

# OpSharding.Type
_REPLICATED, _MAXIMAL, _TUPLE, _OTHER, _MANUAL, _UNKNOWN, _UNREDUCED = range(7)
_SIMPLE = {
    _REPLICATED: "replicated", _MANUAL: "manual", _UNKNOWN: "unknown", _UNREDUCED: "unreduced",
}  # fmt: skip
_SUBGROUPS = {**_SIMPLE, _MAXIMAL: "maximal"}


def sharding_text(sharding: Any) -> str:
    """Return the text of a sharding: ``{devices=[2,1]<=[2]}``."""
    if sharding.type == _TUPLE:
        return f"{{{annotated([sharding_text(one) for one in sharding.tuple_shardings])}}}"
    if sharding.HasField("named_sharding"):
        return _named_sharding(sharding.named_sharding)
    if sharding.type in _SIMPLE:
        text = _SIMPLE[sharding.type]
    elif sharding.type == _MAXIMAL:
        text = f"maximal device={joined(sharding.tile_assignment_devices[:1])}"
    else:
        devices = (
            f"<={_iota(sharding.iota_reshape_dims, sharding.iota_transpose_perm)}"
            if sharding.iota_reshape_dims
            else joined(sharding.tile_assignment_devices)
        )
        text = f"devices=[{joined(sharding.tile_assignment_dimensions)}]{devices}"
        if sharding.replicate_on_last_tile_dim:
            text += " last_tile_dim_replicate"
        if sharding.last_tile_dims:
            kinds = (_SUBGROUPS.get(kind, "error_type.") for kind in sharding.last_tile_dims)
            text += f" last_tile_dims={{{', '.join(kinds)}}}"
    if sharding.is_shard_group:
        text += f" shard_{'like' if sharding.shard_group_type else 'as'} {sharding.shard_group_id}"
    if sharding.metadata:
        text += f" {_metadata(sharding.metadata)}"
    return f"{{{text}}}"


def _metadata(entries: Sequence[Any]) -> str:
    texts = [metadata_text(one) for one in entries]
    inside = texts[0] if len(texts) == 1 else ", ".join(f"{{{one}}}" for one in texts)
    return f"metadata={{{inside}}}"


def _iota(reshape: Sequence[int], transpose: Sequence[int]) -> str:
    text = f"[{joined(reshape)}]"
    return f"{text}T({joined(transpose)})" if len(reshape) > 1 else text


def _mesh(mesh: Any) -> str:
    if not mesh.axes and len(mesh.device_ids) == 1:
        return f"maximal_mesh[device_id={mesh.device_ids[0]}]"
    axes = ",".join(f"'{decoded(axis.name)}'={axis.size}" for axis in mesh.axes)
    ids = joined(mesh.device_ids)
    if mesh.HasField("iota_transform"):
        iota = mesh.iota_transform
        ids = _iota(iota.reshape_dims, iota.transpose_perm) if len(iota.reshape_dims) > 1 else ""
    return f"mesh[{axes}]" + (f", device_ids=({ids})" if ids else "")


def _axes(axes: Sequence[Any], mesh: Any) -> list[str]:
    texts = []
    for axis in axes:
        known = axis.mesh_axis_index < len(mesh.axes)
        name = decoded(mesh.axes[axis.mesh_axis_index].name) if known else axis.mesh_axis_index
        sub = axis.sub_axis_info
        part = f":({sub.pre_size}){sub.size}" if axis.HasField("sub_axis_info") else ""
        texts.append(f"'{name}'{part}")
    return texts


def _named_sharding(sharding: Any) -> str:
    mesh = sharding.mesh
    entries = [f"{{{metadata_text(one)}}}" for one in sharding.metadata]
    metadata = f", metadata={{{', '.join(entries)}}}" if entries else ""
    groups = (
        ("replicated", sharding.replicated_axes),
        ("unreduced", sharding.unreduced_axes),
        ("manual", sharding.manual_axes),
    )
    if not mesh.axes and not mesh.device_ids:
        return f"{{replicated{metadata}}}"
    text = _mesh(mesh)
    if mesh.axes:
        parts = (
            _axes(one.axes, mesh) + ([] if one.is_closed else ["?"])
            for one in sharding.dim_shardings
        )
        dimensions = ", ".join(f"{{{', '.join(part)}}}" for part in parts)
        text += f", [{dimensions}]"
        for name, axes in groups:
            if axes:
                text += f", {name}={{{', '.join(_axes(axes, mesh))}}}"
    return f"{{{text}{metadata}}}"


def replica_groups_text(instruction: Any) -> str:
    """Return the groups of a collective: ``{{0,1},{2,3}}`` or ``[2,2]<=[4]``."""
    if instruction.HasField("mesh_axes_replica_group_list"):
        groups = instruction.mesh_axes_replica_group_list
        return f"{_mesh(groups.mesh)} {{{','.join(_axes(groups.axes, groups.mesh))}}}"
    listed = instruction.collective_device_list
    iota = None
    if instruction.HasField("iota_collective_device_list"):
        iota = instruction.iota_collective_device_list
    elif listed.HasField("iota_replica_group_list"):
        iota = listed.iota_replica_group_list
    if iota is not None:
        shape = f"[{iota.num_replica_groups},{iota.num_devices_per_group}]"
        return f"{shape}<={_iota(iota.iota_reshape_dims, iota.iota_transpose_perm)}"
    groups = listed.replica_groups or instruction.replica_groups
    return f"{{{','.join(index_text(group.replica_ids) for group in groups)}}}"
