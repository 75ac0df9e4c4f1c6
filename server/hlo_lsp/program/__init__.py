"""The structure of a program: dataflow, schedule, donation, passes."""
