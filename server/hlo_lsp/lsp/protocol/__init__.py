"""JSON-RPC and the connection to a client."""
