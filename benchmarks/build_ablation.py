"""Compiles the benchmark's kernels once with every optimisation, and once without each, for `benchmarks.ablation`.

python -m benchmarks.build_ablation FOLDER [--arch sm_90] [--without PASS ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from cuda_kernels.build_all import case_arguments
from cuda_kernels.suite import by_name
from enzyme_driver import cli
from enzyme_driver.optimisations import OPTIMISATIONS

NONE = "none"
"""The folder in which nothing is left out."""

HOST = frozenset(
    {
        "keep-branches",
        "merge-branch-conditions",
        "skip-zeros",
        "cache-math-calls",
        "cache-reductions",
        "drop-primal-results",
        "hoist-allocations",
        "host-rules",
        "rematerialize-iterations",
        "sum-captured",
        "undo-log",
        "pointers-to-indices",
        "mark-inactive-loads",
        "mark-private-memory",
        "barrier-loop-fission",
        "narrow-iteration-space",
        "distribute-additions",
        "vector-math",
        "pack-tapes",
        "inline-exponentials",
    }
)
"""Optimisations that GPU code does not know."""

LEFT_OUT = tuple(name for name in OPTIMISATIONS if name not in HOST)

ARTIFACTS = (
    "elementwise-elementwise",
    "heat3d-heat3d",
    "nearest_face-nearest_face",
    "recurrence-logistic",
    "matmul_tiled-matmul",
    "nbody_tiles-potential",
    "block_sum-sum_of_squares",
    "xs_lookup-xs_lookup-union_energy-const",
    "xs_lookup-xs_lookup-union_energy-const-density-const",
    "xs_struct-xs_struct",
    "multipole_lookup-multipole_lookup-windows-const-radius-const-density-const",
    "multipole_lookup-multipole_lookup",
    "multipole_struct-multipole_struct",
    "lbm_d3q19-collide_and_stream",
    "hydro_eos-update_elements",
    "dg_volume-volume_rhs-geometry-const-derivative-const",
    "kepler-kepler",
    "math_mix-math_mix",
    "math_mix_double-math_mix_double",
    "interpolation-lookup",
    "csr_product-csr_product<int, double>",
    "several_kernels-dense",
)

PROGRAMS: dict[str, tuple[str, ...]] = {
    "solve_spd_float": ("small_linear_algebra.cu", "batched::solve_spd<float, 4>"),
    "solve_spd_double": ("small_linear_algebra.cu", "batched::solve_spd<double, 3>"),
    "qr3": ("small_linear_algebra.cu", "batched::qr3<double>"),
    "layer_norm_float": ("layer_norm.cu", "layer_norm<float, true>"),
    "layer_norm_double": ("layer_norm.cu", "layer_norm<double, false>"),
    "mlp": ("hash_grid.cu", "mlp<8, 4>"),
    "covariance": ("image_losses.cu", "covariance"),
    "covariance_of_one": ("image_losses.cu", "covariance", "--activity", "other=const"),
    "sampled": ("image_losses.cu", "sampled"),
    "propagate": ("seismic_wave.cu", "propagate"),
    "rms_norm": ("transformer_block.cu", "rms_norm"),
    "md_forces": ("md_cells.cu", "md::forces<double, true>"),
    "orbits": ("orbits.cu", "orbits<double>"),
    "irradiance": ("spherical_harmonics.cu", "sh::irradiance<3>"),
    "blur": ("convolution.cu", "blur"),
    "e_step": ("gmm_em.cu", "e_step<double, 2, 3, 32>"),
    "attention": ("transformer_block.cu", "attention<16, true>"),
    "gated_mlp": ("transformer_block.cu", "gated_mlp<16>"),
    "blend_tiles": ("gaussian_splatting.cu", "blend_tiles<4>"),
    "selective_scan": ("selective_scan.cu", "selective_scan<Shape<64, 2, false, float>>"),
    "ptx_gemm": ("tensor_ptx.cu", "gemm_double_buffered"),
    "ptx_flash": ("tensor_ptx.cu", "flash_block"),
    "tc_gemm": ("tensor_cores.cu", "gemm_tiled"),
    "tc_conv": ("tensor_cores.cu", "implicit_convolution"),
    "neural_field": ("neural_field.cu", "render_rays"),
    "conv2d": ("conv_layers.cu", "conv2d<3, 2, 4, Act::Gelu>"),
    "soft_dtw": ("soft_alignment.cu", "soft_dtw"),
    "rollout": ("quadrotor_mpc.cu", "rollout"),
    "robertson": ("stiff_kinetics.cu", "chem::backward_euler<chem::Robertson>"),
    "path_tracer": ("path_tracer.cu", "render"),
    "attenuate": ("voxel_walk.cu", "attenuate"),
    "neuron": ("neuron_cable.cu", "step_neurons"),
    "filter_rows": ("fft_spectrum.cu", "filter_rows<4>"),
    "nearest_by_tiles": ("../openmp/deciding_numbers.cu", "nearest_by_tiles"),
    "within_reach": ("../openmp/deciding_numbers.cu", "within_reach"),
    "field": ("../../examples/radiance_field/field.cu", "render"),
    "delta_rule": ("state_recurrences.cu", "delta_rule<64>"),
    "decaying_scan": ("state_recurrences.cu", "decaying_scan"),
    "light_unit": ("state_recurrences.cu", "light_unit"),
    "filtered": ("../openmp/strides.cu", "filtered"),
    "grid_stride": ("../openmp/strides.cu", "grid_stride"),
    "skin": ("looked_up.cu", "skin"),
    "observe": ("looked_up.cu", "observe"),
    "splats": ("../../examples/splatting/splat.cu", "blend"),
    "nearest": ("point_features.cu", "nearest"),
    "interpolate": ("point_features.cu", "interpolate"),
    "corners": ("point_features.cu", "corners", "--activity", "weights=const"),
    "weighed": ("point_features.cu", "weighed"),
    "doubling": ("doubling.cu", "by_doubling<double>"),
    "online_attention": ("attention.cu", "attention_forward"),
    "batch_norm": ("batch_norm.cu", "batch_norm<32>"),
    "attention_rows": ("attention_tiles.cu", "attention_rows<32>"),
    "head_loss": ("gru_sequence.cu", "head_loss<32>"),
    "dose": ("dose.cu", "transport"),
}
"""The file in tests/programs and the kernel of artifacts that are not of the collection, and further options."""

_FOLDER = Path(__file__).resolve().parents[1] / "tests" / "programs"


def commands(folder: Path, arch: str, without: Iterable[str] = LEFT_OUT) -> dict[str, list[str]]:
    """The command lines of `adgen`, by what each makes."""
    cases = by_name()
    made = {}
    for disabled in (NONE, *without):
        left_out = [] if disabled == NONE else ["--disable", disabled]
        for name in ARTIFACTS:
            given = case_arguments(cases[name], folder / disabled, arch)
            made[f"{name} without {disabled}"] = [*_gpu_only(given), *left_out]
        for name, (file, kernel, *further) in PROGRAMS.items():
            given = ["compile", str(_FOLDER / file), "-k", kernel, *further, "-t", "cuda", "--arch", arch]
            made[f"{name} without {disabled}"] = [*given, "-o", str(folder / disabled / "kernels" / name), *left_out]
    return made


def _gpu_only(arguments: list[str]) -> list[str]:
    host = arguments.index("openmp") if "openmp" in arguments else 0
    return [*arguments[: host - 1], *arguments[host + 1 :]] if host else arguments


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--without", action="append", choices=LEFT_OUT, help="only this one left out; can be repeated")
    options = parser.parse_args()
    every = commands(options.folder, options.arch, options.without or LEFT_OUT)
    failed = [name for name, command in every.items() if cli.run(command)]
    click.echo(f"{len(every) - len(failed)} of {len(every)} compiled", err=True)
    for name in failed:
        click.echo(f"not compiled: {name}", err=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
