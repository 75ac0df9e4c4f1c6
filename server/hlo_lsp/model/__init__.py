"""Floor 3: what the dump means. Shapes, indexes, files, and all files of one compile."""
