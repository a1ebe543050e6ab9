"""Loads artifacts, checks arguments, launches kernels and calls functions. Needs no compiler."""
