"""What the cursor is on, and where that leads."""
