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


ROWS = (
    Program("fft_spectrum.cu", "spectrogram<5>", _frames, ("power",), 5, 16),
    Program("fft_spectrum.cu", "filter_rows<4>", _rows, ("rows",), 3, 8, 2 * 16 * 8),
    Program("fft_spectrum.cu", "cepstrum", _cepstrum, ("coefficients",), 1, 32, flat=frozenset({"coefficients"})),
)
