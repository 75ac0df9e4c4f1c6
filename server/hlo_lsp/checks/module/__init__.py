"""Rules on module text, with their texts."""
