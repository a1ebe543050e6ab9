"""Back-propagation as a scan beside the linear way, beside cuDNN in PyTorch, and by length and batch, on one GPU.

    python -m benchmarks.scan BUILT [--results benchmarks/results/scan.json] [--parts chunks,rnn,...]

BUILT is what benchmarks/build_scan.py compiled. Times are milliseconds, the median of several, of a CUDA graph and,
where Python takes part, of single launches ("eager"). cuDNN runs without TF32, as adgen's kernels do.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples" / "bitstream"))

from benchmarks.scan_times import Row, graph, times  # noqa: E402
from benchmarks.scan_training import curves, multiprocessors  # noqa: E402  (of the example's network)

LENGTHS = (10, 30, 100, 300, 1000, 3000, 10000, 30000)
BATCHES = (2, 4, 8, 16, 32, 64, 128, 256)
CHUNKS = (4, 8, 16, 32, 64, 128, 256)


def chunks(built: Path) -> Iterator[Row]:
    """Each part of the scan by the length of its chunks."""
    import cupy

    from enzyme_driver.scan import chunked, cost
    from enzyme_driver.scan.chain import chain

    del built
    rng = cupy.random.default_rng(0)
    for length, batch, size, dtype in (
        (1000, 16, 20, "f4"),
        (30000, 16, 20, "f4"),
        (1000, 256, 20, "f4"),
        (100000, 1, 3, "f8"),
    ):
        entries = rng.standard_normal((size, length, batch, size), dtype=dtype) * dtype_scale(dtype, size)
        given, last = chain(entries.transpose(1, 2, 0, 3)), cupy.ones((batch, size), dtype)
        plan = cost.plan(given, direct=False)
        shape = {"part": "chunks", "length": length, "batch": batch, "size": size}
        work = chunked.Work(given, None)
        yield shape | {
            "chunk": 0,
            "linear_ms": graph(lambda: chunked.scan(given, last, None, ()), repeats=3),  # noqa: B023
            "chosen": list(plan.chosen),
            "chosen_ms": graph(lambda: chunked.scan(given, last, None, plan.chosen)),  # noqa: B023
            "model_ms": 1e3 * min(plan.scan_seconds, plan.linear_seconds),
        }
        for chunk in (each for each in CHUNKS if each < length):
            products, _ = work.products(chunk)
            ends = cupy.ones((products.steps, batch, size), dtype)
            yield shape | {
                "chunk": chunk,
                "products_ms": graph(lambda: work.products(chunk)),  # noqa: B023
                "between_ms": graph(lambda: chunked.scan(products, last, None, ())),  # noqa: B023
                "inside_ms": graph(lambda: work.cotangents(ends, chunk)),  # noqa: B023
            }


def dtype_scale(dtype: str, size: int) -> Any:  # noqa: ANN401
    return np.dtype(dtype).type(1 / np.sqrt(size))


def rnn(built: Path) -> Iterator[Row]:
    """The network of examples/bitstream: its parts, and a whole step of training, against cuDNN."""
    return _rnn_rows(built, graphs=False)


def rnn_graphs(built: Path) -> Iterator[Row]:
    """The same with cuDNN in CUDA graphs as well, in a process of its own and without a look at cuDNN's gradients: once
    PyTorch had failed to capture something, they were seen to be wrong.
    """
    for row in _rnn_rows(built, graphs=True):
        yield {name: value for name, value in row.items() if name != "gradient_against_cudnn"}


def _rnn_rows(built: Path, *, graphs: bool) -> Iterator[Row]:
    import network

    made = network.kernels("cuda", built / "bitstream")
    for length, batch in _sizes():
        yield _guarded(_rnn, made, length, batch, graphs)


def _sizes() -> list[tuple[int, int]]:
    """Lengths and batches."""
    return [(each, 16) for each in LENGTHS] + [(1000, each) for each in BATCHES if each != 16]  # noqa: PLR2004


def _guarded(measure: Callable[..., Row], *args: Any) -> Row:  # noqa: ANN401
    try:
        return measure(*args)
    except Exception:  # noqa: BLE001  (one size must not hide the others)
        traceback.print_exc()
        return {"part": "failed", "of": measure.__name__, "args": [str(each) for each in args[1:]]}


def _rnn(made: Any, length: int, batch: int, graphs: bool) -> Row:  # noqa: ANN401
    import cupy
    import network

    rng = np.random.default_rng(0)
    bits, labels = network.streams(rng, length, batch)
    begin = network.weights(rng)
    net = network.Network(made, begin, length, batch)
    net.bits[...], net.labels[...] = cupy.asarray(bits), cupy.asarray(labels)
    net.forward()
    last = net.last_cotangents()
    inner = {name: net.weights[name] for name in network.NAMES}
    named = {"bits": net.bits, "samples": batch, **inner}
    step, grid = made.step, network._launch  # noqa: SLF001
    jacobians = step.jacobians(grid, net.states, **named)
    from enzyme_driver import scan

    carried = scan.cotangents(jacobians, last["state"])
    linear = scan.cotangents(jacobians, last["state"], method="linear")
    found = net.before(dict(last))
    row = {
        "part": "rnn_graphs" if graphs else "rnn",
        "length": length,
        "batch": batch,
        "scan_against_linear": float(abs(carried - linear).max() / abs(linear).max()),
        "forward_ms": graph(net.forward),
        "jacobians_ms": graph(lambda: step.jacobians(grid, net.states, **named)),
        "scan_ms": graph(lambda: scan.cotangents(jacobians, last["state"])),
        "linear_ms": graph(lambda: scan.cotangents(jacobians, last["state"], method="linear"), repeats=3),
        "parameters_ms": graph(lambda: step.parameters(grid, net.states, carried, network.NAMES, **named)),
        "backward_ms": graph(lambda: net.before(dict(last))),
        "backward_eager_ms": times(lambda: net.before(dict(last))),
        "training_ms": graph(lambda: net.descend(0.0)),
    }
    return row | _cudnn(begin, bits, labels, last["state"], found, graphs=graphs)


def _cudnn(begin: Row, bits: Any, labels: Any, last: Any, found: Row, *, graphs: bool) -> Row:  # noqa: ANN401
    import cupy
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    model, head = torch.nn.RNN(1, len(begin["bias"])).cuda(), torch.nn.Linear(len(begin["bias"]), 10).cuda()
    with torch.no_grad():
        model.weight_hh_l0.copy_(torch.tensor(begin["hidden_weight"]))
        model.weight_ih_l0.copy_(torch.tensor(begin["input_weight"])[:, None])
        model.bias_hh_l0.copy_(torch.tensor(begin["bias"]))
        model.bias_ih_l0.zero_()
        head.weight.copy_(torch.tensor(begin["out_weight"]))
        head.bias.copy_(torch.tensor(begin["out_bias"]))
    given, classes = torch.tensor(bits[..., None]).cuda(), torch.tensor(labels.astype(np.int64)).cuda()
    seed = torch.as_tensor(last, device="cuda")[None].clone()
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], 0.0)

    def forward() -> Any:  # noqa: ANN401
        return model(given)[1]

    def training() -> None:
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.cross_entropy(head(forward()[0]), classes).backward()
        optimizer.step()

    model.zero_grad()
    forward().backward(seed)
    pairs = {"hidden_weight": model.weight_hh_l0, "input_weight": model.weight_ih_l0, "bias": model.bias_hh_l0}
    worst = max(
        float(abs(cupy.asarray(own.grad).reshape(found[name].shape) - found[name]).max() / abs(found[name]).max())
        for name, own in pairs.items()
    )
    repeats = 3 if len(bits) > 3000 else 7  # noqa: PLR2004
    there, back = [], []
    for _ in range(repeats + 2):
        a, b, c = (torch.cuda.Event(enable_timing=True) for _ in range(3))
        torch.cuda.synchronize()
        a.record()
        state = forward()
        b.record()
        state.backward(seed)
        c.record()
        torch.cuda.synchronize()
        there.append(a.elapsed_time(b))
        back.append(b.elapsed_time(c))
    row = {
        "gradient_against_cudnn": worst,
        "cudnn_forward_ms": float(np.median(there[2:])),
        "cudnn_backward_ms": float(np.median(back[2:])),
    }
    row["cudnn_training_ms"] = _torch_times(training, repeats)
    if not graphs:
        return row
    both = _torch_graph(lambda: forward().backward(seed), repeats)
    alone = _torch_graph(forward, repeats)
    return row | {
        "cudnn_forward_graph_ms": alone,
        "cudnn_backward_graph_ms": None if both is None or alone is None else both - alone,
        "cudnn_training_graph_ms": _torch_graph(training, repeats),
    }


def _torch_times(action: Callable[[], object], repeats: int) -> float:
    import torch

    found = []
    for _ in range(repeats + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        action()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end))
    return float(np.median(found[2:]))


def _torch_graph(action: Callable[[], object], repeats: int) -> float | None:
    """None where PyTorch cannot capture it."""
    import torch

    try:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                action()
        torch.cuda.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            action()
        return _torch_times(captured.replay, repeats)
    except Exception:  # noqa: BLE001  (what the versions can capture differs)
        traceback.print_exc()
        return None


def recurrence(built: Path, name: str) -> Any:  # noqa: ANN401
    import enzyme_driver as adgen
    from benchmarks.build_scan import CHAINS
    from enzyme_driver import scan

    steps = [next(iter(adgen.load(built / name / str(number), "cuda"))) for number in (0, 1)]
    return scan.Recurrence(*steps, **CHAINS[name])


def grid(samples: int) -> tuple[int, int]:
    return -(-samples // 64), 64


def robertson(built: Path) -> Iterator[Row]:
    """One stiff trajectory: the scan against the gradient of the kernel that loops over all steps."""
    import cupy

    import enzyme_driver as adgen

    step, run = recurrence(built, "robertson"), next(iter(adgen.load(built / "robertson" / "run", "cuda")))
    rates, h = cupy.asarray([0.04, 3e7, 1e4]), 1e-3
    for length in (1000, 10000, 100000):
        states = cupy.zeros((length + 1, 1, 3))
        states[0, 0, 0] = 1
        named = {"rates": rates, "h": h, "trajectories": 1}
        step.run(grid, states, **named)
        last, weights = cupy.zeros(3), cupy.asarray([1.0, -2e3, 0.5])
        found = step.vjp(grid, states, weights[None], wrt="rates", **named)
        linear = run.vjp[1, 1](
            states[0, 0], rates, h, last, length, cotangents={"last": weights}, wrt=("start", "rates")
        )
        difference = max(
            float(abs(found["rates"] / linear["rates"] - 1).max()),
            float(abs(found["state"][0, 0] / linear["start"] - 1).max()),
        )
        yield {
            "part": "robertson",
            "length": length,
            "difference": difference,
            "primal_ms": times(lambda: run[1, 1](states[0, 0], rates, h, last, length), repeats=3),  # noqa: B023
            "linear_ms": times(
                lambda: run.vjp[1, 1](states[0, 0], rates, h, last, length, cotangents={"last": weights}, wrt="rates"),  # noqa: B023
                repeats=3,
            ),
            "scan_ms": graph(lambda: step.vjp(grid, states, weights[None], wrt="rates", **named)),  # noqa: B023
            "scan_eager_ms": times(lambda: step.vjp(grid, states, weights[None], wrt="rates", **named)),  # noqa: B023
        }


def kalman(built: Path) -> Iterator[Row]:
    """The gradient of a likelihood by the noise: the scan against the linear way through the same Jacobians."""
    import cupy

    step, rng = recurrence(built, "kalman"), np.random.default_rng(0)
    for length, tracks in ((10000, 1), (100000, 1), (10000, 64)):
        states = cupy.zeros((length + 1, tracks, 6))
        states[0, :, 2] = states[0, :, 4] = 1
        measured = cupy.asarray(np.cumsum(rng.standard_normal((length, tracks)), 0))
        named = {"measured": measured, "noise": cupy.asarray([0.1, 0.5]), "tracks": tracks}
        step.run(grid, states, **named)
        last = cupy.zeros((tracks, 6))
        last[:, 5] = 1
        ways = {
            way: step.vjp(grid, states, last, wrt="noise", method=way, **named)["noise"] for way in ("scan", "linear")
        }
        yield {
            "part": "kalman",
            "length": length,
            "batch": tracks,
            "difference": float(abs(ways["scan"] / ways["linear"] - 1).max()),
            "scan_ms": graph(lambda: step.vjp(grid, states, last, wrt="noise", **named)),  # noqa: B023
            "linear_ms": graph(lambda: step.vjp(grid, states, last, wrt="noise", method="linear", **named), repeats=3),  # noqa: B023
        }


def gru(built: Path) -> Iterator[Row]:
    """A gated recurrent unit against cuDNN's."""
    step = recurrence(built, "gru")
    for length, batch in _sizes():
        yield _guarded(_gru, step, length, batch)


def _gru(step: Any, length: int, batch: int) -> Row:  # noqa: ANN401
    import cupy
    import torch

    torch.backends.cudnn.allow_tf32 = False
    model, size = torch.nn.GRU(1, 20).cuda(), 20
    given = (torch.rand(length, batch, 1, device="cuda") < 0.5).float()  # noqa: PLR2004
    own = [each.detach() for each in (model.weight_hh_l0, model.weight_ih_l0, model.bias_ih_l0, model.bias_hh_l0)]
    names = ("hidden_weight", "input_weight", "input_bias", "hidden_bias")
    shapes = ((3, size, size), (3, size), (3, size), (3, size))
    named = {
        name: cupy.asarray(value).reshape(shape).copy() for name, value, shape in zip(names, own, shapes, strict=True)
    }
    named |= {"bits": cupy.asarray(given)[..., 0].copy(), "samples": batch}
    outputs, state = model(given)
    states = cupy.zeros((length + 1, batch, size), np.float32)
    states[1:] = cupy.asarray(outputs.detach())
    seed = torch.randn_like(state)
    state.backward(seed)
    last = cupy.asarray(seed)[0].copy()
    found = step.vjp(grid, states, last, wrt=names, **named)
    theirs = cupy.asarray(model.weight_hh_l0.grad).reshape(3, size, size)
    carried = found["state"]
    return {
        "part": "gru",
        "length": length,
        "batch": batch,
        "gradient_against_cudnn": float(abs(theirs - found["hidden_weight"]).max() / abs(theirs).max()),
        "jacobians_ms": graph(lambda: step.jacobians(grid, states, **named)),
        "parameters_ms": graph(lambda: step.parameters(grid, states, carried, names, **named)),
        "backward_ms": graph(lambda: step.vjp(grid, states, last, wrt=names, **named)),
        "cudnn_forward_ms": _torch_times(lambda: model(given), 5),
        "cudnn_both_ms": _torch_times(lambda: model(given)[1].backward(seed), 5),
    }


def host(built: Path) -> Iterator[Row]:
    """The linear way and the scan on the host, by length; a sample leaves the linear way one thread."""
    import os
    import time

    from enzyme_driver.scan import cost, cotangents
    from enzyme_driver.scan.chain import chain

    del built
    rng = np.random.default_rng(0)
    for size, batch in ((3, 1), (20, 1), (20, 16)):
        for length in (100, 1000, 10000, 100000 // batch):
            given = (rng.standard_normal((length, batch, size, size)) / np.sqrt(size)).astype(np.float32)
            last = np.ones((batch, size), np.float32)
            plan = cost.plan(chain(given), direct=False)
            found: dict[str, list[float]] = {"linear": [], "scan": []}
            for _ in range(5):
                for method, seconds in found.items():
                    begin = time.perf_counter()
                    cotangents(given, last, method=method)
                    seconds.append(time.perf_counter() - begin)
            shape = {"part": "host", "length": length, "batch": batch, "size": size, "chunks": list(plan.scan)}
            medians = {f"{method}_ms": 1e3 * float(np.median(seconds)) for method, seconds in found.items()}
            yield shape | {"threads": len(os.sched_getaffinity(0)), "model_takes_scan": bool(plan.chosen)} | medians


PARTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    each.__name__: each for each in (chunks, rnn, robertson, kalman, gru, host, rnn_graphs, curves, multiprocessors)
}


def main() -> int:
    from benchmarks.measure import device_name  # it needs CuPy
    from enzyme_driver.scan import kernels

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("built", type=Path)
    parser.add_argument("--results", type=Path, default=HERE / "results" / "scan.json")
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args()
    kernels.use_built(options.built / "chunks")
    where = {
        "device": device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": "python -m benchmarks.scan",
    }
    parts = options.parts.split(",")
    known = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else []
    rows: list[Row] = [row for row in known if row["part"] not in parts]
    for part in parts:
        try:
            for row in PARTS[part](options.built):
                rows.append(row | where)
                print(json.dumps(row), flush=True)
        except Exception:  # noqa: BLE001  (one part must not hide the others)
            traceback.print_exc()
        options.results.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
