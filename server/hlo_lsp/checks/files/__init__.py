"""Rules on files as a whole: syntax, sections, truncation, companion files."""
