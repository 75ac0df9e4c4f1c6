"""Prints how the rules do on damage: ``python tests/faults/run.py [--code CODE] [--count N]``."""

import argparse
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(TESTS), str(TESTS.parent / "server")]  # not this folder itself


def main() -> None:
    """Injection, judge, print."""
    from rich.console import Console
    from rich.progress import track

    from dumps import CORPUS, unpacked
    from faults.campaign import campaign
    from faults.catalogue import FAULTS
    from faults.table import Tally, describe, table, worst

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", default="", help="codes that begin so")
    parser.add_argument("--kind", default="", help="kinds that have this in their names")
    parser.add_argument("--count", type=int, default=10, help="damages of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=10, help="examples to print")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "hlo-faults")
    wanted = parser.parse_args()
    chosen = [one for one in FAULTS if one.code.startswith(wanted.code) and wanted.kind in one.name]
    console = Console()
    wanted.cache.mkdir(exist_ok=True)
    root = unpacked(CORPUS / "small.tar.xz", wanted.cache)
    outcomes = campaign(root, chosen, wanted.count, wanted.seed)
    tallies = [
        Tally(of_kind) for of_kind in track(outcomes, "striking", len(chosen), console=console)
    ]
    console.print(table(tallies))
    for one in worst((one for tally in tallies for one in tally.outcomes), wanted.worst):
        console.print(describe(one), "", soft_wrap=True)


if __name__ == "__main__":
    main()
