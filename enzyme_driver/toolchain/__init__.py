"""The tools that adgen drives: found, checked to fit together, installed, diagnosed."""

from enzyme_driver.toolchain.find import ensure, identity
from enzyme_driver.toolchain.values import EnzymeSource, Identity, Tool, Toolchain, check_arch

__all__ = ["EnzymeSource", "Identity", "Tool", "Toolchain", "check_arch", "ensure", "identity"]
