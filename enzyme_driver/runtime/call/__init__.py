"""A call from Python: its arguments checked, laid out and packed for a launch."""
