"""What a reader is told about a subject: cards of facts, without any markup of a client."""
