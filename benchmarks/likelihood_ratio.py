"""Accuracy and time an epoch of three networks, by back-propagation and by likelihood ratios, and how far estimates are
from the gradient.

    python -m benchmarks.likelihood_ratio FOLDER --build
    python -m benchmarks.likelihood_ratio FOLDER --output benchmarks/results/lr.json

The first compiles what the networks of examples/likelihood_ratio launch into FOLDER, for both targets; it trains each
for an epoch on the host to find out what that is. The second trains them on a GPU, from FOLDER, where no compiler is:
with one seed for each of some settings, of which the accuracy on the validation samples chooses, then with the chosen
settings and other seeds, of which it reports the mean and the range of the accuracy on the test samples.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples" / "likelihood_ratio"))

import train  # noqa: E402  (of the example)

from benchmarks.scan_times import times  # noqa: E402
from enzyme_driver import likelihood_ratio as lr  # noqa: E402
from enzyme_driver.likelihood_ratio import primitives  # noqa: E402
from enzyme_driver.likelihood_ratio.kernels import STORE  # noqa: E402
from enzyme_driver.likelihood_ratio.noise import Draw  # noqa: E402
from enzyme_driver.tensor import PRECISIONS, Device  # noqa: E402

EPOCHS = {"mlp": 40, "rnn": 20, "gcn": 400}
COPIES, SIGMAS = (16, 64), (0.03, 0.1, 0.3)
"""That are tried; of "LR-M", whose time is compared with back-propagation, only the fewest copies."""
LONGER = {("gcn", "LR-F"): 2, ("gcn", "LR-L"): 2}
"""Of how many times the epochs, by model and method."""
TUNING_SEED, SEEDS = 9, (1, 2, 3)
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"antithetic": False},
    "pairs": {},
    "lattice": {"antithetic": False, "lattice": True},
    "pairs, signs": {"signs": True},
    "pairs, layer by layer": {},
    "pairs, at a cut": {},
}
"""Of noise whose estimates are compared with the gradient."""
OF_KIND: dict[str, lr.Method] = {"pairs, layer by layer": "LR-L", "pairs, at a cut": "LR-M"}
ESTIMATES, LARGEST = 8, 4096
WIDTH, BATCH_OF_LAYER, COPIES_OF_LAYER = 2048, 64, 64
"""Of a layer that is large enough for Tensor Cores."""


def build(folder: Path) -> int:
    """Compile what an epoch of each network launches, and layers on Tensor Cores; the number of kernels."""
    launched: dict[tuple[Any, ...], None] = {}
    find = STORE.kernel

    def noting(target: Any, *wanted: Any) -> Any:  # noqa: ANN401  (as KernelStore.kernel)
        launched[wanted] = None
        return find(target, *wanted)

    STORE.kernel = noting  # type: ignore[assignment]
    device = Device("openmp")
    for model in train.MODELS:
        for method in lr.METHODS:
            train.train(model, method, device, lr.Noise(train.SIGMAS[model], copies=2, seed=train.SEED), 1)
    for precision in PRECISIONS:
        _layer(Device("openmp", precision), np.zeros((2, 1), np.float32), 2)
    for wanted in launched:
        STORE.build(folder, *wanted)
    return len(launched)


def measured(device: Device, models: Sequence[str], seeds: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for model in models:
        for method in lr.METHODS:
            rows.append(_row(model, method, device, seeds))
            click.echo(json.dumps(rows[-1]))
    return rows


def _row(model: str, method: lr.Method, device: Device, seeds: Sequence[int]) -> dict[str, Any]:
    """The figures of the settings that did best on the validation samples."""
    epochs = EPOCHS[model] * LONGER.get((model, method), 1)
    copies = COPIES[:1] if method in {"BP", "LR-M"} else COPIES
    sigmas = SIGMAS[:1] if method == "BP" else SIGMAS  # of which back-propagation uses none

    def trained(setting: tuple[float, int], seed: int) -> train.Trained:
        noise = lr.Noise(setting[0], copies=setting[1], seed=seed)
        return train.train(model, method, device, noise, epochs)

    settings = [(sigma, count) for sigma in sigmas for count in copies]
    tried = {each: trained(each, TUNING_SEED).validation for each in settings} if len(settings) > 1 else {}
    sigma, count = max(tried, key=lambda each: tried[each]) if tried else settings[0]
    found = [trained((sigma, count), seed) for seed in seeds]
    accuracies = [each.accuracy for each in found]
    return {
        "model": model,
        "method": method,
        "epochs": epochs,
        **({} if method == "BP" else {"copies": count, "sigma": sigma}),
        "accuracy": float(np.mean(accuracies)),
        "least": min(accuracies),
        "most": max(accuracies),
        "seeds": list(seeds),
        "epoch_seconds": float(np.median([each.epoch_seconds for each in found])),
        "curve": found[0].curve,
        "tried": [{"sigma": s, "copies": c, "validation": accuracy} for (s, c), accuracy in tried.items()],
    }


def variance(device: Device) -> list[dict[str, Any]]:
    """The cosine between estimates of the MLP's gradient and the compiled one, by the number of copies."""
    task = train.mlp(device)
    batches = list(task.epoch(np.random.default_rng(train.SEED)))
    trainer = lr.Trainer(device, task.network.thetas, 1e-3, lambda x, y, _: task.gradient(x, y), lr.Noise(1.0))
    for batch in batches:
        trainer.step(*batch)
    exact, rows = _flat(device, task.gradient(*batches[0])), []
    for kind, options in KINDS.items():
        for copies in (2**power for power in range(1, LARGEST.bit_length())):
            cosines = []
            for seed in range(ESTIMATES):
                noise = lr.Noise(train.SIGMAS["mlp"] / 3, copies=copies, seed=seed, chunk=min(copies, 512), **options)
                found = _flat(device, task.gradient(*batches[0], OF_KIND.get(kind, "LR-F"), noise))
                cosines.append(float(found @ exact / np.linalg.norm(found) / np.linalg.norm(exact)))
            rows.append({"kind": kind, "copies": copies, "cosine": float(np.mean(cosines)), "of": ESTIMATES})
        click.echo(json.dumps(rows[-1]))
    return rows


def _layer(device: Device, x: Any, copies: int) -> list[Callable[[], object]]:  # noqa: ANN401
    """A square layer with noise, and the estimate of its gradient; both have run once."""
    arrays, width, draw = device.arrays, x.shape[1], Draw(lr.Noise(0.1, copies, 1), 0, len(x), range(copies))
    theta, weight = arrays.full((width + 1, width), 0.01, x.dtype), arrays.full(draw.rows, 1e-4, x.dtype)
    gradient = arrays.zeros_like(theta)
    actions: list[Callable[[], object]] = [
        lambda: primitives.dense(device, x, theta, "tanh", draw),
        lambda: primitives.score(device, x, weight, gradient, draw),
    ]
    for action in actions:
        action()
    return actions


def layers() -> list[dict[str, Any]]:
    """Times of one layer of many copies in every precision."""
    import cupy

    rows = []
    for precision in PRECISIONS:
        x = cupy.random.default_rng(1).standard_normal((BATCH_OF_LAYER, WIDTH), np.float32)
        forward, update = _layer(Device("cuda", precision), x, COPIES_OF_LAYER)
        rows.append(
            {
                "precision": precision,
                "width": WIDTH,
                "rows": BATCH_OF_LAYER * COPIES_OF_LAYER,
                "forward_ms": times(forward),
                "update_ms": times(update),
            }
        )
        click.echo(json.dumps(rows[-1]))
    return rows


def _flat(device: Device, found: lr.Gradients) -> Any:  # noqa: ANN401
    return np.concatenate([device.to_host(each).ravel() for each in found.thetas]).astype(np.float64)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", action="store_true", help="compile into the folder")
    parser.add_argument("--output", type=Path, help="the JSON file to write")
    parser.add_argument(
        "--model",
        action="append",
        choices=list(EPOCHS),
        help="repeatable; the rest of the output stays; all unless given",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="one training for each")
    options = parser.parse_args()
    if options.build:
        click.echo(f"{build(options.folder)} kernels in {options.folder}", err=True)
        return 0
    if options.output is None:
        parser.error("--output is missing")
    from benchmarks.measure import device_name  # it needs CuPy

    STORE.use_built(options.folder)
    device = Device("cuda")
    rows = measured(device, options.model or list(EPOCHS), options.seeds)
    found = {
        "device": device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": f"python -m benchmarks.likelihood_ratio {options.folder.name} --output {options.output.name}",
        "batch": train.BATCH,
    }
    if options.model:
        before = json.loads(options.output.read_text(encoding="utf-8"))
        if before["device"] != found["device"]:
            parser.error(f"{options.output} is of another device, {before['device']}")
        found = before | {"rows": [*(row for row in before["rows"] if row["model"] not in options.model), *rows]}
    else:
        found |= {"rows": rows, "layers": layers(), "variance": variance(device)}
    options.output.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
