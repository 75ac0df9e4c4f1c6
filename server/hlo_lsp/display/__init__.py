"""How facts are shown: cards, tables, phrases, and their form on a terminal."""
