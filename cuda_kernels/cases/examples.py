"""The kernels of `examples/` as cases, for what is to hold of them too: see frameworks_check.py."""

from __future__ import annotations

from math import erf

import numpy as np
from numpy.typing import NDArray

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F64, Floats, Ints, Rng, integers, uniform, zeros

Struct = NDArray[np.void]

POINTS = np.dtype([(axis, "f4") for axis in "xyz"])
SEGMENT = np.dtype([("from", "f4"), ("to", "f4"), ("samples", "i4")])
VIEW = np.dtype([("width", "i4"), ("height", "i4"), ("focal", "f4")])
OCTAVES, WIDTH, OUTPUTS = 4, 16, 4
LAYERS = ((3 + 6 * OCTAVES, WIDTH), (WIDTH, WIDTH), (WIDTH, OUTPUTS))
FOLDER = "../examples"
HIDDEN, TILE, WIDEN, FAINT = 20, 16, 0.3, 1 / 255


def _heat(u: Floats, nx: int, ny: int, r: Floats, beta: Floats, **written: Floats) -> None:
    plate = u.reshape(ny, nx)
    after = plate.copy()
    inner = plate[1:-1, 1:-1]
    others = (plate[1:-1, :-2], plate[1:-1, 2:], plate[:-2, 1:-1], plate[2:, 1:-1])
    after[1:-1, 1:-1] += r * sum((1 + beta * 0.5 * (inner + each)) * (each - inner) for each in others)
    written["next"][:] = after.ravel()


def _heat_args(rng: Rng) -> Args:
    nx, ny = 19, 13
    plates = {"u": uniform(rng, 0, 1, nx * ny, dtype=F64), "next": zeros(nx * ny, dtype=F64)}
    return {**plates, "nx": nx, "ny": ny, "r": 0.15, "beta": 0.5}


def _heat3d(u: Floats, nx: int, ny: int, nz: int, r: Floats, beta: Floats, **written: Floats) -> None:
    block = u.reshape(nz, ny, nx)
    after = block.copy()
    inner = block[1:-1, 1:-1, 1:-1]
    change = np.zeros_like(inner)
    for axis in range(3):
        for ahead in (0, 2):
            window = [slice(1, -1)] * 3
            window[axis] = slice(ahead, block.shape[axis] - 2 + ahead)
            each = block[tuple(window)]
            change += (1 + beta * 0.5 * (inner + each)) * (each - inner)
    after[1:-1, 1:-1, 1:-1] += r * change
    written["next"][:] = after.ravel()


def _heat3d_args(rng: Rng) -> Args:
    nx, ny, nz = 9, 7, 5
    count = nx * ny * nz
    blocks = {"u": uniform(rng, 0, 1, count, dtype=F64), "next": zeros(count, dtype=F64)}
    return {**blocks, "nx": nx, "ny": ny, "nz": nz, "r": 0.1, "beta": 0.5}


def _energy(position: Floats, mass: Floats, share: Floats, bodies: int, softening: Floats) -> None:
    apart = position.reshape(-1, 3)[:, None] - position.reshape(-1, 3)[None]
    inverse = 1 / np.sqrt((apart**2).sum(-1) + softening**2)
    share[:] = -0.5 * mass * ((inverse * (1 - np.eye(bodies))) @ mass)


def _energy_args(rng: Rng) -> Args:
    bodies = 70
    arrays = {"position": uniform(rng, -1, 1, 3 * bodies, dtype=F64), "mass": uniform(rng, 0.5, 1, bodies, dtype=F64)}
    return {**arrays, "share": zeros(bodies, dtype=F64), "bodies": bodies, "softening": 0.05}


def _price(
    spot: Floats, strike: Floats, rate: Floats, vol: Floats, maturity: Floats, is_call: Ints, price: Floats, n: int
) -> None:
    del n
    below = np.vectorize(lambda x: 0.5 * (1 + erf(x / np.sqrt(2))))
    sign, deviation = np.where(is_call, 1, -1), vol * np.sqrt(maturity)
    first = (np.log(spot / strike) + (rate + 0.5 * vol**2) * maturity) / deviation
    paid = strike * np.exp(-rate * maturity) * below(sign * (first - deviation))
    price[:] = sign * (spot * below(sign * first) - paid)


def _price_args(rng: Rng) -> Args:
    n = 60
    ranges = {"spot": (80, 120), "strike": (80, 120), "rate": (0.01, 0.05), "vol": (0.2, 0.5), "maturity": (0.5, 2)}
    given = {name: uniform(rng, *between, n) for name, between in ranges.items()}
    return {**given, "is_call": integers(rng, 0, 2, n), "price": zeros(n), "n": n}


def _rnn_step(
    state: Floats,
    bits: Floats,
    hidden_weight: Floats,
    input_weight: Floats,
    bias: Floats,
    next_state: Floats,
    samples: int,
) -> None:
    before = state.reshape(samples, HIDDEN)
    next_state[:] = np.tanh(
        bias + np.outer(bits, input_weight) + before @ hidden_weight.reshape(HIDDEN, HIDDEN).T
    ).ravel()


def _rnn_args(rng: Rng) -> Args:
    samples = 9
    sizes = (samples * HIDDEN, samples, HIDDEN * HIDDEN, HIDDEN, HIDDEN)
    names = ("state", "bits", "hidden_weight", "input_weight", "bias")
    arrays = {name: uniform(rng, -0.5, 0.5, size) for name, size in zip(names, sizes, strict=True)}
    return {**arrays, "next_state": zeros(samples * HIDDEN), "samples": samples}


def _rnn_sequence(
    states: Floats, bits: Floats, hidden_weight: Floats, input_weight: Floats, bias: Floats, steps: int, samples: int
) -> None:
    rows = states.reshape(steps + 1, samples * HIDDEN)
    for step in range(steps):
        own = bits[step * samples : (step + 1) * samples]
        _rnn_step(rows[step], own, hidden_weight, input_weight, bias, rows[step + 1], samples)


def _rnn_sequence_args(rng: Rng) -> Args:
    steps, samples = 5, 4
    sizes = ((steps + 1) * samples * HIDDEN, steps * samples, HIDDEN * HIDDEN, HIDDEN, HIDDEN)
    names = ("states", "bits", "hidden_weight", "input_weight", "bias")
    arrays = {name: uniform(rng, -0.5, 0.5, size) for name, size in zip(names, sizes, strict=True)}
    return {**arrays, "steps": steps, "samples": samples}


def _classify(state: Floats, weight: Floats, bias: Floats, label: Ints, loss: Floats, samples: int) -> None:
    logits = bias + state.reshape(samples, HIDDEN) @ weight.reshape(-1, HIDDEN).T
    loss[:] = np.log(np.exp(logits).sum(1)) - logits[np.arange(samples), label]


def _classify_args(rng: Rng) -> Args:
    samples, classes = 11, 10
    sizes = {"state": samples * HIDDEN, "weight": classes * HIDDEN, "bias": classes}
    arrays = {name: uniform(rng, -0.5, 0.5, size) for name, size in sizes.items()}
    return {**arrays, "label": integers(rng, 0, classes, samples), "loss": zeros(samples), "samples": samples}


def _loss(x: Floats, y: Floats, params: Floats, n: int, loss: Floats) -> None:
    del n
    amplitude, decay, frequency, phase, offset = params
    loss[...] = ((amplitude * np.exp(-decay * x) * np.cos(frequency * x + phase) + offset - y) ** 2).sum()


def _loss_args(rng: Rng) -> Args:
    n = 40
    params = np.array([2.0, 0.3, 5.0, 0.4, 0.5])
    arrays = {"x": uniform(rng, 0, 3, n, dtype=F64), "y": uniform(rng, -1, 1, n, dtype=F64)}
    return {**arrays, "params": params, "n": n, "loss": zeros(dtype=F64)}


def _dense(x: Floats, weights: Floats, biases: Floats, y: Floats, rows: int, inputs: int, outputs: int) -> None:
    y[:] = np.tanh(x.reshape(rows, inputs) @ weights.reshape(inputs, outputs) + biases).ravel()


def _dense_args(rng: Rng) -> Args:
    rows, inputs, outputs = 7, 5, 6
    sizes = {"x": rows * inputs, "weights": inputs * outputs, "biases": outputs}
    arrays = {name: uniform(rng, -1, 1, size, dtype=F64) for name, size in sizes.items()}
    return {**arrays, "y": zeros(rows * outputs, dtype=F64), "rows": rows, "inputs": inputs, "outputs": outputs}


def _kinetics(log_rates: Floats, times: Floats, seen: Floats, pixels: int, looks: int) -> None:
    slow, back = np.exp(log_rates.reshape(pixels, 2)).T
    a, b, begin = np.ones(pixels), np.zeros(pixels), 0.0
    for look in range(looks):
        h = (times[look] - begin) / 8
        for _ in range(8):
            a, b = _implicit_step(a, b, (slow, back, h))
        begin = times[look]
        seen.reshape(pixels, looks, 2)[:, look] = np.stack([a, 2e4 * b], -1)


def _implicit_step(a: Floats, b: Floats, rates: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Four iterations of Newton's method."""
    (slow, back, h), first, second = rates, a, b
    for _ in range(4):
        c = 1 - a - b
        f = a - first + h * (slow * a - back * b * c)
        g = b - second - h * (slow * a - back * b * c - 3e7 * b * b)
        fa, fb = 1 + h * (slow + back * b), -h * back * (c - b)
        ga, gb = -h * (slow + back * b), 1 + h * (back * (c - b) + 6e7 * b)
        inverse = 1 / (fa * gb - fb * ga)
        a, b = a - (gb * f - fb * g) * inverse, b - (fa * g - ga * f) * inverse
    return a, b


def _kinetics_args(rng: Rng) -> Args:
    pixels, times = 6, np.geomspace(0.3, 30.0, 4)
    rates = np.log([0.04, 1e4]) + uniform(rng, -0.2, 0.2, pixels, 2, dtype=F64)
    looks = len(times)
    seen = zeros(2 * pixels * looks, dtype=F64)
    return {"log_rates": rates.ravel(), "times": times, "seen": seen, "pixels": pixels, "looks": looks}


def _render(
    rays: int,
    segment: Struct,
    weights: Floats,
    origins: Floats,
    directions: Floats,
    starts: Floats,
    background: Struct,
    colours: Floats,
) -> None:
    samples = int(segment["samples"])
    step = (segment["to"] - segment["from"]) / samples
    through, colour = np.ones(rays), np.zeros((rays, 3))
    for sample in range(samples):
        t = segment["from"] + (sample + starts) * step
        seen, density = _field(weights, origins + t[:, None] * directions)
        clear = np.exp(-step * density)
        colour += (through * (1 - clear))[:, None] * seen
        through = through * clear
    colours[...] = colour + through[:, None] * np.stack([background[axis] for axis in "xyz"], -1)


def _field(weights: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Colours and densities of the network at points."""
    parts = [at]
    for octave in range(OCTAVES):
        scaled = 2**octave * at
        parts.append(np.stack([np.sin(scaled), np.cos(scaled)], -1).reshape(len(at), 6))
    values, place = np.concatenate(parts, 1), 0
    for number, (inputs, outputs) in enumerate(LAYERS):
        end = place + inputs * outputs
        values = values @ weights[place:end].reshape(outputs, inputs).T + weights[end : end + outputs]
        place = end + outputs
        values = np.maximum(values, 0) if number < len(LAYERS) - 1 else values
    return 1 / (1 + np.exp(-values[:, :3])), np.log1p(np.exp(values[:, 3]))


def _render_args(rng: Rng) -> Args:
    rays = 20
    weights = [uniform(rng, -0.3, 0.3, (inputs + 1) * outputs) for inputs, outputs in LAYERS]
    directions = rng.normal(size=(rays, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return {
        "rays": rays,
        "segment": np.array((0.5, 2.0, 5), SEGMENT)[()],
        "weights": np.concatenate(weights),
        "origins": uniform(rng, -1, 1, rays, 3),
        "directions": directions.astype(np.float32),
        "starts": uniform(rng, 0.2, 0.8, rays),
        "background": np.array((0.2, 0.3, 0.4), POINTS)[()],
        "colours": zeros(rays, 3),
    }


def _rotation(turns: Floats) -> Floats:
    w, x, y, z = (turns / np.linalg.norm(turns, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _project(
    count: int,
    view: Struct,
    pose: Floats,
    means: Floats,
    log_scales: Floats,
    turns: Floats,
    logits: Floats,
    spots: Floats,
    depths: Floats,
    boxes: Ints,
) -> None:
    del boxes
    turned = pose.reshape(3, 4)[:, :3]
    at = means.reshape(count, 3) @ turned.T + pose.reshape(3, 4)[:, 3]
    f = view["focal"] / at[:, 2]
    none = np.zeros(count)
    rows = [[f, none, -f * at[:, 0] / at[:, 2]], [none, f, -f * at[:, 1] / at[:, 2]]]
    wide = _rotation(turns.reshape(count, 4)) * np.exp(log_scales.reshape(count, 1, 3))
    axes = np.moveaxis(np.array(rows), -1, 0) @ turned @ wide
    spread = axes @ np.swapaxes(axes, 1, 2) + WIDEN * np.eye(2)
    inverse = np.linalg.inv(spread)
    centre = f[:, None] * at[:, :2] + 0.5 * np.array([view["width"], view["height"]])
    opacity = 1 / (1 + np.exp(-logits))
    spots[...] = np.column_stack([centre, inverse[:, 0, 0], inverse[:, 0, 1], inverse[:, 1, 1], opacity])
    depths[:] = at[:, 2]


def _project_args(rng: Rng) -> Args:
    count = 30
    pose = np.column_stack([np.eye(3), [0.1, -0.2, 3.0]]) + 0.05 * rng.normal(size=(3, 4))
    return {
        "count": count,
        "view": np.array((64, 48, 60.0), VIEW)[()],
        "pose": pose.astype(np.float32).ravel(),
        "means": uniform(rng, -1, 1, 3 * count),
        "log_scales": uniform(rng, -2.5, -1.5, 3 * count),
        "turns": rng.normal(size=4 * count).astype(np.float32),
        "logits": uniform(rng, -1, 1, count),
        "spots": zeros(count, 6),
        "depths": zeros(count),
        "boxes": np.zeros((count, 4), np.int32),
    }


def _blend(
    view: Struct, ranges: Ints, entries: Ints, spots: Floats, colours: Floats, background: Struct, image: Floats
) -> None:
    width, height = int(view["width"]), int(view["height"])
    tiles = -(-width // TILE)
    y, x = np.mgrid[:height, :width]
    picture = image.reshape(3, height, width)
    behind = np.stack([background[axis] for axis in "xyz"])
    for row, column in np.ndindex(height, width):
        begin, end = ranges[row // TILE * tiles + column // TILE]
        own = spots[entries[begin:end]]
        dx, dy = own[:, 0] - x[row, column] - 0.5, own[:, 1] - y[row, column] - 0.5
        alpha = own[:, 5] * np.exp(-0.5 * (own[:, 2] * dx * dx + own[:, 4] * dy * dy) - own[:, 3] * dx * dy)
        alpha = np.where(alpha < FAINT, 0, alpha)
        through = np.concatenate([[1.0], np.cumprod(1 - alpha)])
        picture[:, row, column] = (alpha * through[:-1]) @ colours[entries[begin:end]] + through[-1] * behind


def _blend_args(rng: Rng) -> Args:
    """Spots that no pixel is opaque behind, each of them in every tile."""
    width, height, count = 20, 17, 12
    tiles = -(-width // TILE) * -(-height // TILE)
    turn, spread = rng.uniform(0, np.pi, count), rng.uniform(0.02, 0.1, (2, count))
    c, s = np.cos(turn), np.sin(turn)
    forms = [c * c * spread[0] + s * s * spread[1], c * s * (spread[0] - spread[1])]
    forms.append(s * s * spread[0] + c * c * spread[1])
    spots = [rng.uniform(0, width, count), rng.uniform(0, height, count), *forms, rng.uniform(0.1, 0.5, count)]
    ends = np.arange(1, tiles + 1, dtype=np.int32) * count
    return {
        "view": np.array((width, height, 1.0), VIEW)[()],
        "ranges": np.stack([ends - count, ends], -1),
        "entries": np.concatenate([rng.permutation(count) for _ in range(tiles)]).astype(np.int32),
        "spots": np.column_stack(spots).astype(np.float32),
        "colours": uniform(rng, 0, 1, count, 3),
        "background": np.array((0.2, 0.3, 0.4), POINTS)[()],
        "image": zeros(3 * width * height),
    }


CASES = (
    Case(f"{FOLDER}/heat2d/heat2d.cu", "step", _heat_args, _heat, grid=(2, 1), block=(16, 16)),
    Case(f"{FOLDER}/distributed/heat3d.cu", "step", _heat3d_args, _heat3d, grid=(2, 1, 1), block=(8, 8, 8)),
    Case(f"{FOLDER}/least_squares/least_squares.cpp", "loss", _loss_args, _loss, grid=0, block=0),
    Case(f"{FOLDER}/nbody/nbody.cu", "energy", _energy_args, _energy, grid=3, block=32),
    Case(f"{FOLDER}/black_scholes/black_scholes.cu", "price", _price_args, _price, grid=2, block=32, slack=5),
    Case(f"{FOLDER}/bitstream/rnn.cu", "rnn_step", _rnn_args, _rnn_step, grid=1, block=32),
    Case(f"{FOLDER}/bitstream/rnn.cu", "rnn_sequence", _rnn_sequence_args, _rnn_sequence, grid=4, block=32),
    Case(f"{FOLDER}/bitstream/rnn.cu", "classify", _classify_args, _classify, grid=1, block=32),
    Case(f"{FOLDER}/distributed/dense.cu", "dense", _dense_args, _dense, grid=(1, 1), block=(8, 8)),
    Case(f"{FOLDER}/jax_fit/kinetics.cu", "kinetics", _kinetics_args, _kinetics, grid=1, block=32, slack=100),
    Case(f"{FOLDER}/radiance_field/field.cu", "render", _render_args, _render, grid=1, block=32, slack=10),
    Case(f"{FOLDER}/splatting/splat.cu", "project", _project_args, _project, grid=1, block=32, slack=10),
    Case(f"{FOLDER}/splatting/splat.cu", "blend", _blend_args, _blend, grid=(2, 2), block=(TILE, TILE), slack=10),
)
