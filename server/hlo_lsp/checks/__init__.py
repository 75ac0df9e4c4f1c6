"""Rules that report inconsistencies in dumps and advice on programs; see ``catalogue``."""
