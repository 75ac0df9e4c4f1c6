"""Floor 1: lines of text, edits of them, and positions in them."""
