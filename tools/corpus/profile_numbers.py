"""Print the events with ``hlo_op`` of a profile as JAX reads them: ``profile_numbers.py FILE``."""

import json
import sys

from jax.profiler import ProfileData

events = []
lines = [line for plane in ProfileData.from_file(sys.argv[1]).planes for line in plane.lines]
for number, line in enumerate(lines):
    for event in line.events:
        stats = dict(event.stats)
        if "hlo_op" in stats:
            events.append(
                {
                    "line": number,
                    "start_ns": event.start_ns,
                    "duration_ns": event.duration_ns,
                    **{name: stats[name] for name in ("hlo_op", "hlo_module", "program_id")},
                    **{name: stats[name] for name in ("run_id", "device_ordinal")},
                }
            )
json.dump(events, sys.stdout)
