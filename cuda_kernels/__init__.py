"""Our own kernels, written in many people's styles, with what is needed to check their gradients."""
