"""The memory that a program needs: occupancy, liveness, padding, sharing."""
