"""The cases, by what is special about the kernels."""
