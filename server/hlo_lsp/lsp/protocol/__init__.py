"""JSON-RPC as the Language Server Protocol narrows it, where pygls leaves it open."""
