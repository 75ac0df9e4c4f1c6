"""Floor 2: what a line says. Grammars, the expressions made of them, and records."""
