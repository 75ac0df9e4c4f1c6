"""Tables of the instructions of a program that run, with what each costs and how long it takes."""
