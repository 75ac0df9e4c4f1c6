"""End-to-end tests of the server."""
