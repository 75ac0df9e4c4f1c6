"""Measured time: profiles of JAX, their executions of modules, and the time of instructions."""
