"""What the words of HLO mean: opcodes, attributes, header, element types, read from TOML files."""
