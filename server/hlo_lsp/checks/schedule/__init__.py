"""Rules on the printed schedule, and the section of live ranges that it is part of."""
