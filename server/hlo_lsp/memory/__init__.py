"""What a program costs: occupancy, liveness, padding, sharing."""
