"""Ocean, atmosphere, ice and waves in the ground."""

from __future__ import annotations

import numpy as np
from programs.draw import Rng, struct
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros


def _tracer(rng: Rng) -> Args:
    nx, ny, nz = 12, 10, 3
    mask = np.ones((ny, nx), np.int32)
    mask[4, 5] = 0
    return {
        "T": rng.uniform(5, 20, (nz, ny, nx)),
        "U": rng.choice([-1, 1], (nz, ny, nx)) * rng.uniform(0.1, 0.5, (nz, ny, nx)),
        "V": rng.choice([-1, 1], (nz, ny, nx)) * rng.uniform(0.1, 0.5, (nz, ny, nx)),
        "dx": rng.uniform(9, 11, (ny, nx)),
        "dy": rng.uniform(9, 11, (ny, nx)),
        "mask": mask,
        "Tnew": np.zeros((nz, ny, nx)),
        "dt": 2.0,
        "ah": 0.5,
        "c_im": nx,
        "c_jm": ny,
        "c_km": nz,
    }


def _mixing(rng: Rng) -> Args:
    nx, ny, nz = 5, 4, 6
    return {
        "T": rng.uniform(5, 20, (nz, ny, nx)),
        "S": rng.uniform(33, 36, (nz, ny, nx)),
        "shear2": rng.uniform(1e-3, 1e-2, (nz, ny, nx)),
        "dz": rng.uniform(5, 10, nz),
        "sst": rng.uniform(10, 20, (ny, nx)),
        "dt": 600.0,
        "kappa_b": 1e-4,
        "tau": 86400.0,
        "c_im": nx,
        "c_jm": ny,
        "c_km": nz,
    }


def _waves(rng: Rng) -> Args:
    shape = (13, 16, 16)
    return {
        "next": normal(rng, *shape),
        "now": normal(rng, *shape),
        "vel2dt2": uniform(rng, 0.1, 0.2, *shape),
        "damp": uniform(rng, 0.9, 1, *shape),
        "nx": 16,
        "ny": 16,
        "nz": 13,
    }


def _shot(rng: Rng) -> Args:
    return {
        "field": normal(rng, 100),
        "wavelet": normal(rng, 8),
        "source": np.array([50], np.int32),
        "receivers": rng.permutation(50)[:10].astype(np.int32),
        "traces": zeros(10, 8),
        "it": 3,
        "nt": 8,
        "n_receivers": 10,
    }


def _misfit(rng: Rng) -> Args:
    arrays = {"traces": normal(rng, 10, 8), "observed": normal(rng, 10, 8)}
    return {**arrays, "residual": zeros(10, 8), "per_trace": zeros(10), "nt": 8, "n_receivers": 10}


def _shortwave(rng: Rng) -> Args:
    """Nights for the last columns."""
    columns, layers, bands = 10, 6, 2
    shape = (bands, layers, columns)
    return {
        "tau": rng.uniform(0.1, 1, shape),
        "ssa": rng.uniform(0.3, 0.9, shape),
        "asy": rng.uniform(0.5, 0.8, shape),
        "mu0": np.where(np.arange(columns) < 8, rng.uniform(0.3, 1, columns), -0.2),
        "albedo": rng.uniform(0.1, 0.4, columns),
        "band_fraction": np.array([0.6, 0.4]),
        "flux_up": np.ones((layers + 1, columns)),
        "flux_dn": np.ones((layers + 1, columns)),
        "flux_direct": np.ones((layers + 1, columns)),
        "heating": np.ones((layers, columns)),
        "dp": rng.uniform(50, 100, (layers, columns)),
        "ncol": columns,
        "nlay": layers,
        "nband": bands,
    }


_WARM_RAIN = np.dtype(
    [(name, np.float64) for name in ("autoconversion_rate", "threshold", "accretion", "evaporation")]
    + [(name, np.float64) for name in ("fall_speed", "fall_exponent", "melt")]
    + [("substeps", np.int32)],
    align=True,
)


def _clouds(rng: Rng) -> Args:
    """Moist air below, cold air above; no level is near melting, saturation or a threshold."""
    levels, columns = 6, 5
    pressure = np.linspace(95e3, 40e3, levels)[:, None] * rng.uniform(0.99, 1.01, (levels, columns))
    temperature = np.linspace(292, 245, levels)[:, None] + rng.uniform(-1, 1, (levels, columns))
    saturated = 380 / pressure * np.exp(17.27 * (temperature - 273.16) / (temperature - 35.86))
    humidity = rng.choice([0.6, 1.2], (levels, columns))
    arrays = {
        "temperature": temperature,
        "vapour": saturated * humidity,
        "cloud": rng.choice([0.4e-3, 2e-3], (levels, columns)),
        "rain": rng.uniform(1e-3, 2e-3, (levels, columns)),
        "ice": rng.uniform(1e-4, 2e-4, (levels, columns)),
        "pressure": pressure,
        "dz": rng.uniform(400, 500, levels),
        "precipitation": rng.uniform(0, 1, columns),
    }
    numbers = {"dt": 5.0, "ncol": columns, "nz": levels}
    return {
        **arrays,
        "prm": struct(_WARM_RAIN, 1e-3, 1e-3, 2.2, 1e-3, 10.0, 0.1364, 1e-3, 2),
        **numbers,
    }


_WATER = ("temperature", "vapour", "cloud", "rain", "ice", "precipitation")
_FLUXES = ("flux_up", "flux_dn", "flux_direct", "heating")

ROWS = (
    Program("ocean_tracer.cu", "tracer_advect", _tracer, ("Tnew",), (2, 2, 3), (8, 8)),
    Program("ocean_tracer.cu", "vertical_mix", _mixing, ("T",), (1, 1), (8, 8), activity={"tau": "active"}),
    Program("seismic_wave.cu", "propagate", _waves, ("next",), (1, 2), (8, 4)),
    Program("seismic_wave.cu", "inject_and_record", _shot, ("field", "traces"), 1, 32),
    Program("seismic_wave.cu", "misfit", _misfit, ("residual", "per_trace"), 1, 32),
    Program("two_stream.cu", "shortwave", _shortwave, _FLUXES, 1, 16, flat=frozenset(_FLUXES[:3])),
    Program("cloud_microphysics.cu", "microphysics", _clouds, _WATER, 1, 8),
)
