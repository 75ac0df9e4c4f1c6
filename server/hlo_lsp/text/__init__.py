"""Documents, edits, position encodings, and files on disk."""
