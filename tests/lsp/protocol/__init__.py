"""The server as a process, under messages that no editor would send."""
