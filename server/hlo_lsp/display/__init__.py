"""Cards, tables, and phrases: the forms of facts for a reader, and their look on a terminal."""
