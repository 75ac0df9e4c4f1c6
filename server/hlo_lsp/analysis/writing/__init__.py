"""What may be written at the cursor."""
