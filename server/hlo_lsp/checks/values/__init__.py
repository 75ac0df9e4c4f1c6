"""Rules on values: their headers, shapes, positions and uses."""
