"""Rules on live ranges."""
