"""Back-propagation as a parallel scan: chains of Jacobians in O(log n) dependent steps where a loop has n.

from enzyme_driver import scan
g = scan.cotangents(jacobians, last)           # [steps, batch, size, size], [batch, size] -> [steps + 1, batch, size]
step = scan.recurrence("rnn.cu", "rnn_step", state="state", following="next_state", samples="samples", ...)
g = step.vjp(launch, states, last, wrt="hidden_weight", ...)
"""

from __future__ import annotations

from enzyme_driver.scan.recurrence import Recurrence, activities, recurrence
from enzyme_driver.scan.scan import cotangents
from enzyme_driver.scan.tree import levels

__all__ = ["Recurrence", "activities", "cotangents", "levels", "recurrence"]
