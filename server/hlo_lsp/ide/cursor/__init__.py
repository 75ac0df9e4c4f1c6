"""The entity at the cursor."""
