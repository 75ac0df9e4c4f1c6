"""The facts that a hover shows."""
