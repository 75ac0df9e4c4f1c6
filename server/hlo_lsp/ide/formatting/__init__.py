"""Module text as XLA prints it."""
