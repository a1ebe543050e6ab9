"""The rooms that a kernel visits, one module each, in the order of docs/architecture.md."""
