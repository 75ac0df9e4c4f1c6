"""The framework of rules: findings, fixes, options, and the context that a rule reads."""
