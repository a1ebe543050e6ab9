"""Times the gradient of examples/splatting against its forward kernels: projection and blending, each on its own.

    python -m benchmarks.splatting [--target openmp|cuda] [--artifacts FOLDER] [--output splatting.json]

The Gaussians are those that training begins with, in random colours and opacities. Medians of warm launches in one
process; `--artifacts` is splat.cu compiled, for a machine without a compiler (`adgen compile splat.cu -t cuda`, or what
`cuda_kernels.build_all` makes).
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "splatting"
sys.path.insert(0, str(EXAMPLE))

import train  # noqa: E402
from scene import cameras  # noqa: E402

WARM_UP, REPEATS = 2, 7


def loaded(target: Literal["openmp", "cuda"], artifact: Path | None) -> train.Renderer:
    return train.Renderer(target, artifact)


def launches(renderer: train.Renderer, count: int, size: int) -> dict[str, tuple[Any, Any, Any]]:
    """As `Renderer.launches` says, with so many Gaussians in a picture of this side."""
    rng, xp = np.random.default_rng(0), renderer.xp
    camera = cameras(8, size)[0]
    start = train.begin(cameras(8, min(size, 200)), count, rng)
    start["logits"] = rng.standard_normal(count).astype(np.float32)
    start["colours"] = rng.random((count, 3)).astype(np.float32)
    return renderer.launches({name: xp.asarray(value) for name, value in start.items()}, camera)


def measured(renderer: train.Renderer, count: int, size: int) -> list[dict[str, Any]]:
    """Milliseconds of the forward kernels and of their gradients."""
    timed = _on_gpu if renderer.xp is not np else _on_host
    rows = []
    for name, (primal, gradient, refill) in launches(renderer, count, size).items():
        first, second = timed(primal), timed(gradient, refill)
        rows.append({"kernel": name, "forward_ms": first, "gradient_ms": second, "ratio": second / first})
        click.echo(f"{name}: forward {first:.4g} ms, gradient {second:.4g} ms, ratio {second / first:.2f}")
    return rows


def _on_gpu(run: Callable[[], None], before: Callable[[], None] = lambda: None) -> float:
    import cupy

    def once() -> float:
        before()
        begun, ended = cupy.cuda.Event(), cupy.cuda.Event()
        begun.record()
        run()
        ended.record()
        ended.synchronize()
        return float(cupy.cuda.get_elapsed_time(begun, ended))

    return statistics.median([once() for _ in range(WARM_UP + REPEATS)][WARM_UP:])


def _on_host(run: Callable[[], None], before: Callable[[], None] = lambda: None) -> float:
    def once() -> float:
        before()
        begun = time.perf_counter()
        run()
        return 1e3 * (time.perf_counter() - begun)

    return statistics.median([once() for _ in range(WARM_UP + REPEATS)][WARM_UP:])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", choices=["openmp", "cuda"], default="openmp")
    parser.add_argument("--artifacts", type=Path)
    parser.add_argument("--gaussians", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=800)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    renderer = loaded(options.target, options.artifacts)
    rows = measured(renderer, options.gaussians, options.size)
    if options.output:
        device = platform.processor()
        if options.target == "cuda":
            device = renderer.xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        data = {
            "device": device,
            "date": datetime.now(UTC).date().isoformat(),
            "command": f"python -m benchmarks.splatting --target {options.target}",
            "gaussians": options.gaussians,
            "size": options.size,
            "rows": rows,
        }
        options.output.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
