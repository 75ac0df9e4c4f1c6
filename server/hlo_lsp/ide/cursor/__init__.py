"""The cursor target: what the cursor is on."""
