"""The formatting of module text as XLA prints it."""
