"""Values: their headers, positions and uses."""
