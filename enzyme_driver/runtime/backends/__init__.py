"""Where code runs: the host's threads and NVIDIA's GPUs, their memory and their libraries."""
