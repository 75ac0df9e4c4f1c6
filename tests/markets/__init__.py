"""Files for package indexes, editors, and CI systems."""
