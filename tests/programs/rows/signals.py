"""Sound, arrays of sensors, images and scans."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.draw import F32, FLOAT2, Array, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros


def _frames(rng: Rng) -> Args:
    return {"signal": normal(rng, 100), "power": zeros(5, 16), "length": 100, "hop": 16, "preemphasis": 0.9}


def _rows(rng: Rng) -> Args:
    return {
        "rows": structs(FLOAT2, rng.standard_normal((3 * 16, 2))),
        "response": structs(FLOAT2, rng.standard_normal((16, 2))),
    }


def _cepstrum(rng: Rng) -> Args:
    peaks = np.array([2, 5, 9, 13], np.int32)
    return {
        "power": uniform(rng, 0.1, 1, 6, 20),
        "band_low": peaks - 2,
        "band_peak": peaks,
        "band_high": peaks + 4,
        "coefficients": zeros(6, 3),
        "frames": 6,
        "bins": 20,
        "bands": 4,
        "count": 3,
    }


_UCHAR3 = np.dtype([(name, np.uint8) for name in "xyz"])


def _photo(rng: Rng) -> Args:
    photo = np.zeros(11 * 9, _UCHAR3)
    for name in "xyz":
        photo[name] = rng.integers(20, 255, 99)
    return {"in": photo, "out": zeros(9, 11), "gain": uniform(rng, 0.5, 1, 3), "w": 11, "h": 9}


def _bilateral(rng: Rng) -> Args:
    arrays = {"in": uniform(rng, 0, 1, 9, 11), "out": zeros(9, 11), "sigmas": np.array([1.5, 0.4], np.float32)}
    return {**arrays, "w": 11, "h": 9}


def _dual(rng: Rng) -> Args:
    return {
        "p": structs(FLOAT2, 0.3 * rng.standard_normal((99, 2))),
        "p_new": np.zeros(99, FLOAT2),
        "f": uniform(rng, 0, 1, 9, 11),
        "lambda": uniform(rng, 0.5, 1, 1),
        "tau": 0.25,
        "w": 11,
        "h": 9,
    }


def _primal(rng: Rng) -> Args:
    return {
        "p": structs(FLOAT2, rng.standard_normal((99, 2))),
        "f": uniform(rng, 0, 1, 9, 11),
        "u": zeros(9, 11),
        "energy": np.zeros(1),
        "lambda": 0.3,
        "huber": 0.2,
        "w": 11,
        "h": 9,
    }


def _recursive(rng: Rng) -> Args:
    return {"image": normal(rng, 9, 11), "alpha": uniform(rng, 0.3, 0.6, 1), "w": 11, "h": 9}


_FAN = np.dtype(
    [(name, np.int32) for name in ("nx", "ny", "n_angles", "n_bins")]
    + [(name, F32) for name in ("pixel", "bin", "source", "detector")]
)


def _fan() -> Any:  # noqa: ANN401  (a struct)
    return struct(_FAN, 8, 8, 5, 11, 1, 1.5, 20, 15)


def _angles(rng: Rng) -> Array:
    """None of them near an axis or a diagonal."""
    return (np.arange(5) * np.pi / 2 + rng.uniform(0.3, 0.4, 5)).astype(F32)


def _projected(rng: Rng) -> Args:
    arrays = {"image": uniform(rng, 0, 1, 8, 8), "angles": _angles(rng), "sinogram": zeros(5, 11)}
    return {**arrays, "g": _fan()}


def _ramp(rng: Rng) -> Args:
    arrays = {"sinogram": normal(rng, 5, 11), "filtered": zeros(5, 11), "apodisation": uniform(rng, 0.5, 1, 11)}
    return {**arrays, "g": _fan()}


def _back(rng: Rng) -> Args:
    arrays = {"sinogram": normal(rng, 5, 11), "angles": _angles(rng), "image": zeros(8, 8)}
    return {**arrays, "g": _fan()}


def _counts(rng: Rng) -> Args:
    arrays = {"sinogram": uniform(rng, 0.5, 1, 5, 11), "counts": rng.integers(10, 50, (5, 11)).astype(np.int32)}
    return {**arrays, "blank": uniform(rng, 50, 99, 11), "view_loss": zeros(5), "g": _fan()}


def _warped(rng: Rng) -> Args:
    series = {"x": normal(rng, 3, 7, 2), "y": normal(rng, 3, 9, 2)}
    return {**series, "cost": zeros(3), "gamma": 0.5, "n": 7, "m": 9, "dim": 2}


def _aligned(rng: Rng) -> Args:
    words = {"a": rng.integers(0, 4, (3, 10)).astype(np.uint8), "b": rng.integers(0, 4, (3, 13)).astype(np.uint8)}
    costs = {"matrix": normal(rng, 4, 4), "gap": uniform(rng, 0.5, 1, 1)}
    return {**words, **costs, "score": zeros(3), "n": 10, "m": 13, "alphabet": 4, "temperature": 0.5}


def _profile(rng: Rng) -> Args:
    letters = np.frombuffer(b"ACGT", np.int8)
    return {
        "sequences": letters[rng.integers(0, 4, 20)],
        "starts": np.array([0, 6, 11, 20], np.int32),
        "transitions": uniform(rng, -2, -0.5, 6, 3, 3),
        "emissions": uniform(rng, -2, -0.5, 6, 4),
        "background": uniform(rng, -2, -1, 4),
        "log_odds": zeros(3),
        "work": zeros(3, 6, 3),
        "count": 3,
        "length": 5,
    }


def _frames_and_labels(rng: Rng) -> Args:
    """A frame more than the longest sequence needs; two equal labels need a blank between them."""
    labels = np.array([[1, 2, 2], [3, 1, 0]], np.int32)
    scores = rng.standard_normal((2, 7, 5))
    return {
        "log_probs": scores - np.log(np.exp(scores).sum(-1, keepdims=True)),
        "labels": labels,
        "frames": np.array([7, 5], np.int32),
        "lengths": np.array([3, 2], np.int32),
    }


_CTC_SIZES = {"most_frames": 7, "classes": 5, "most_labels": 3, "blank": 0}


def _ctc_rows(rng: Rng) -> Args:
    given = _frames_and_labels(rng)
    return {**given, "log_probs": given["log_probs"].astype(np.float32), "loss": zeros(2), **_CTC_SIZES}


def _ctc_lattice(rng: Rng) -> Args:
    return {**_frames_and_labels(rng), "alpha": np.zeros((2, 7, 7)), "loss": np.zeros(2), **_CTC_SIZES}


ROWS = (
    Program("fft_spectrum.cu", "spectrogram<5>", _frames, ("power",), 5, 16),
    Program("fft_spectrum.cu", "filter_rows<4>", _rows, ("rows",), 3, 8, 2 * 16 * 8),
    Program("fft_spectrum.cu", "cepstrum", _cepstrum, ("coefficients",), 1, 32, flat=frozenset({"coefficients"})),
    Program("variational_denoise.cu", "to_float", _photo, ("out",), (2, 2), (8, 8)),
    Program("variational_denoise.cu", "bilateral", _bilateral, ("out",), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "dual_step", _dual, ("p_new",), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "primal_and_energy", _primal, ("u", "energy"), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "smooth_rows", _recursive, ("image",), 1, 16),
    Program(
        "tomography.cu",
        "project",
        _projected,
        ("sinogram",),
        (1, 1),
        (16, 8),
        tolerance=1e-2,
        activity={"angles": "const"},
    ),
    Program("tomography.cu", "ramp_filter", _ramp, ("filtered",), (1, 5), 8),
    Program("tomography.cu", "back_project", _back, ("image",), (1, 1), (8, 8), activity={"angles": "const"}),
    Program("tomography.cu", "poisson", _counts, ("view_loss",), 5, 8, tolerance=1e-2),
    Program("soft_alignment.cu", "soft_dtw", _warped, ("cost",), 3, 16, 3 * 8 * 4, tolerance=1e-2),
    Program("soft_alignment.cu", "local_alignment", _aligned, ("score",), 3, 32, tolerance=1e-2),
    Program(
        "soft_alignment.cu",
        "profile_forward",
        _profile,
        ("log_odds", "work"),
        1,
        8,
        tolerance=1e-2,
        flat=frozenset({"work"}),
    ),
    Program("soft_alignment.cu", "ctc_rows", _ctc_rows, ("loss",), 2, 8, 2 * 10 * 4, tolerance=1e-2),
    Program("soft_alignment.cu", "ctc_lattice", _ctc_lattice, ("alpha", "loss"), 2, 4),
)
