"""``hlo-lsp profile``: show where the measured time of programs goes."""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from hlo_lsp.cli.dumps import current_folder_frames, dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_answer, print_errors
from hlo_lsp.cli.progress_note import progress_note
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.profiles.events import Profile
from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.modules import compiles_in, modules_of
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.protos.conversion import convert_modules
from hlo_lsp.protos.names import XPLANE_ENDINGS
from hlo_lsp.reports.profile_comparison import compare_profiles, comparison_blocks, comparison_json
from hlo_lsp.reports.profile_report import profile_blocks, profile_json, run_lines
from hlo_lsp.stats.measured_programs import JoinedProfile, join, profile_beside
from hlo_lsp.text.inert import printable
from hlo_lsp.text.remote import shown


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    profile = profile_at(options.profile, errors)
    if options.extract is not None:
        _extract(profile, options.extract)
    joined = joined_profile(profile, options.profile, options.dumps, errors)
    if options.compare is None and any(map(_is_profile, options.dumps)):
        hint = f"hlo-lsp profile {shown(options.dumps[0])} --compare {shown(options.profile)}"
        print(printable(f"hlo-lsp: `{hint}` compares the two profiles"), file=sys.stderr)
    key = InstructionKey(options.by)
    if options.compare is not None:
        before = joined_profile(profile_at(options.compare, errors), options.compare, [], errors)
        modules = compare_profiles(before, joined, key)
        runs = [*run_lines(before.run, "before:"), *run_lines(joined.run, "after:")]
        print_answer(
            options.format,
            chain([runs] if runs else [], comparison_blocks(modules, options.top)),
            lambda: comparison_json(modules, before.run, joined.run),
        )
    else:
        print_answer(
            options.format,
            profile_blocks(joined, key, options.top, options.chip),
            lambda: profile_json(joined, key, options.chip),
        )
    return print_errors(errors)


def _is_profile(path: Path) -> bool:
    """Return whether a path is a profile, or a folder with one."""
    return path.name.endswith(XPLANE_ENDINGS) or profile_beside(path) is not None


def profile_at(path: Path, errors: list[str]) -> Profile:
    """Return the profile of a file or a folder.

    Args:
        path: The file or the folder.
        errors: The list to which a message about each damage is added.

    Raises:
        UnreadableError: There is no profile.
    """
    with progress_note() as note:
        note(f"Reading {path.name}")
        profile = read_profile(profile_run(path))
    errors += dict.fromkeys(profile.damages)
    return profile


def joined_profile(
    profile: Profile, path: Path, dumps: Sequence[Path], errors: list[str]
) -> JoinedProfile:
    """Return a profile joined with its own modules, and with the dumps at some paths.

    Messages about paths without dumps, and about a profile without programs, are added to
    ``errors``.
    """
    frames = current_folder_frames()
    read = list(dumps_at(dumps, errors, unread=ROLES_WITHOUT_SIZES, frames=frames))
    joined = join(profile, compiles_in(profile, path, frames), read)
    if not joined.programs:
        errors.append(f"{shown(path)}: no instruction of XLA ran in this profile")
    return joined


def _extract(profile: Profile, folder: Path) -> None:
    """Write the files of all modules that the profile contains."""
    sections = convert_modules(modules_of(profile)).sections
    if not sections:
        raise CommandError("this profile contains no module")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for section in sections:
            (folder / section.name).write_text("\n".join(section.lines), "utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {folder}: {error.strerror}") from None
