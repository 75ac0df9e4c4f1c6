"""The rules, by what they look at; ``catalogue`` lists them all."""
