"""What is asked of a kernel or function: VJP, JVP, HVP, Jacobians, and whether they are right."""
