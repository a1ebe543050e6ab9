"""Back-propagation through a sequence whose chunks lie on several devices: g[t] = J[t]^T g[t + 1] + direct[t].

What a chunk makes of the cotangent that comes in at its end is an affine map, which every device finds for its own
chunk at the same time. The maps are gathered, each device follows them to its own end, and goes through its chunk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from processes import Found, Kind, Place, alone, built, differs, over, run

from enzyme_driver import scan
from enzyme_driver.scan import kernels

STEPS, BATCH, SIZE = 256, 3, 8
LARGEST = 1e-12


def chain() -> tuple[Any, Any, Any]:
    """Jacobians, what each state gets besides, and the last cotangent."""
    rng = np.random.default_rng(6)
    jacobians = rng.standard_normal((STEPS, BATCH, SIZE, SIZE)) / SIZE**0.5
    return jacobians, rng.standard_normal((STEPS, BATCH, SIZE)), rng.standard_normal((BATCH, SIZE))


def affine(xp: Any, jacobians: Any, direct: Any) -> Any:
    """The map of a chunk, [batch, size, size + 1]: a column for each element of what comes in, and one for nothing."""
    steps, batch, size, _ = jacobians.shape
    several = xp.repeat(jacobians[:, :, None], size, axis=2).reshape(steps, batch * size, size, size)
    units = xp.tile(xp.eye(size, dtype=jacobians.dtype), (batch, 1))
    columns = scan.cotangents(several, units)[0].reshape(batch, size, size).transpose(0, 2, 1)
    alone = scan.cotangents(jacobians, xp.zeros((batch, size), jacobians.dtype), direct=direct)[0]
    return xp.ascontiguousarray(xp.concatenate([columns, alone[:, :, None]], axis=2))


def own_cotangents(place: Place) -> Found:
    """Those of the states at the begin of each of this device's steps."""
    kernels.use_built(built("scan"))
    xp = __import__("cupy") if place.kind == "cuda" else np
    part = place.part(STEPS)
    jacobians, direct, last = (xp.asarray(each) for each in _part(chain(), part))
    end = place.shared(last)
    if place.size > 1:
        maps = place.gathered(affine(xp, jacobians, direct))
        for later in reversed(maps[place.rank + 1 :]):
            end = (later[:, :, :-1] @ end[:, :, None])[:, :, 0] + later[:, :, -1]
    end = xp.asarray(end.contiguous() if place.kind == "cuda" else end.numpy())
    found = scan.cotangents(jacobians, end, direct=direct)[:-1]
    return {"cotangents": np.asarray(found.get() if hasattr(found, "get") else found)}


def _part(arrays: tuple[Any, Any, Any], part: slice) -> tuple[Any, Any, Any]:
    jacobians, direct, last = arrays
    return jacobians[part], direct[part], last


def with_torch(kind: Kind, size: int) -> bool:
    wanted = own_cotangents(alone(kind))["cotangents"]
    found = np.concatenate([each["cotangents"] for each in run(own_cotangents, size, kind)])
    return differs(found, wanted, LARGEST, f"a scan over {size} chunks, {over(size, kind)}")
