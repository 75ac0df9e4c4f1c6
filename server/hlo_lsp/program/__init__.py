"""How a program is connected: dataflow, schedule, donation, passes."""
