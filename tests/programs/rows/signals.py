"""Sound, arrays of sensors, images and scans."""

from __future__ import annotations

import numpy as np
from programs.draw import FLOAT2, Rng, structs
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


ROWS = (
    Program("fft_spectrum.cu", "spectrogram<5>", _frames, ("power",), 5, 16),
    Program("fft_spectrum.cu", "filter_rows<4>", _rows, ("rows",), 3, 8, 2 * 16 * 8),
    Program("fft_spectrum.cu", "cepstrum", _cepstrum, ("coefficients",), 1, 32, flat=frozenset({"coefficients"})),
    Program("variational_denoise.cu", "to_float", _photo, ("out",), (2, 2), (8, 8)),
    Program("variational_denoise.cu", "bilateral", _bilateral, ("out",), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "dual_step", _dual, ("p_new",), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "primal_and_energy", _primal, ("u", "energy"), (2, 2), (8, 8), tolerance=1e-2),
    Program("variational_denoise.cu", "smooth_rows", _recursive, ("image",), 1, 16),
)
