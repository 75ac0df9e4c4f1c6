"""Module text as XLA prints it: only blanks and line ends are ever changed."""
