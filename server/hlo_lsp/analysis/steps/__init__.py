"""The schedule: as it is printed, and as the module text has it."""
