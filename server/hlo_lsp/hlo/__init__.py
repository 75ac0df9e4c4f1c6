"""The vocabulary of HLO: opcodes, attributes, element types, read from TOML files."""
