"""The language server: session, scheduling, and one thin module per request."""
