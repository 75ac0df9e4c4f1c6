"""What people read about each code: the text of the rules in TOML, by topic."""
