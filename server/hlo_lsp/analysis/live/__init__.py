"""Live ranges, the peak, and the call stacks at it."""
