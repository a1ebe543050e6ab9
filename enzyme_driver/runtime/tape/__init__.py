"""`adgen.Tape`: launches recorded, and their gradient replayed backwards."""
