"""Floor 5: what is wrong with a dump. One rule, one function; ``catalogue`` lists them all."""
