"""``hlo-lsp check --watch``: look again whenever a file has changed."""

import sys
import time
from collections.abc import Callable

from rich.console import Console

from hlo_lsp.analysis.cards.card import counted
from hlo_lsp.checks.folders.folder import Checked
from hlo_lsp.checks.folders.jobs import Job, Plan

_PAUSE = 1.0  # seconds between two looks at the names and times of files
Known = dict[Job, list[Checked]]


def watch(
    planned: Callable[[], Plan],
    look: Callable[[Plan, Known], object],
    pause: Callable[[], None] = lambda: time.sleep(_PAUSE),
) -> None:
    """Call ``look`` at the beginning and after changes, until ctrl-C.

    It is given what was found before, and adds what it finds. Files that are being written are
    left to grow until they stay the same between two pauses.
    """
    known: Known = {}
    shown: Plan | None = None
    made = planned()
    try:
        while True:
            if made != shown:
                Console().clear()
                look(made, known)
                shown = made
                known = {job: known[job] for job in made.jobs if job in known}
                files = counted(len(made.files), "file")
                print(f"watching {files}; ctrl-C ends", file=sys.stderr)
            pause()
            made = _settled(planned, pause, shown)
    except KeyboardInterrupt:
        return


def _settled(planned: Callable[[], Plan], pause: Callable[[], None], shown: Plan) -> Plan:
    made = planned()
    while made != shown:
        pause()
        later = planned()
        if later == made:
            break
        made = later
    return made
