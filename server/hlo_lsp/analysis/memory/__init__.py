"""Memory that values occupy over the schedule."""
