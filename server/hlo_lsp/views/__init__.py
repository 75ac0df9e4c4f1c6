"""Floor 6: what the command line shows. Tables for people, JSON for scripts."""
