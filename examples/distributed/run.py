"""Adgen's gradients on several devices, each compared with that on one: heat, training, splatting, and more.

    python distributed/run.py                       # four processes over gloo, then four devices of XLA, on the host
    python distributed/run.py --device cuda         # one process a GPU over NCCL, then all GPUs of JAX
    python distributed/run.py --subject views       # or: heat, placement, training, ratios, chunks, jax
    python distributed/run.py --device cuda --measure devices.json  # how the time scales with the GPUs

Each subject is a module of this folder. What is not installed is left out; the script fails where gradients differ.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

PARTS = 4
SUBJECTS = ("heat", "placement", "training", "views", "ratios", "chunks", "jax")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--subject", choices=SUBJECTS)
    parser.add_argument("--measure", type=Path, help="write how the time scales with the GPUs to this file")
    options = parser.parse_args()
    if options.measure:
        if options.device != "cuda":
            parser.error("--measure needs --device cuda")
        return int(importlib.import_module("scaling").measure(options.measure))
    if options.subject:
        return int(failed(options.subject, options.device))
    wrong = [subject for subject in SUBJECTS if _by_itself(subject, options.device)]
    if wrong:
        print(f"wrong: {', '.join(wrong)}")
    return int(bool(wrong))


def failed(subject: str, device: str) -> bool:
    library = "jax" if subject == "jax" else "torch"
    if importlib.util.find_spec(library) is None:
        print(f"{subject}: left out, {library} is not installed")
        return False
    if subject == "jax":
        return bool(importlib.import_module("heat").with_jax())
    import torch

    size = torch.cuda.device_count() if device == "cuda" else PARTS
    return bool(importlib.import_module(subject).with_torch(device, size))


def _by_itself(subject: str, device: str) -> bool:
    """In a process of its own: PyTorch and JAX share no GPU memory, and XLA reads its flags once."""
    environment = dict(os.environ)
    if device == "cpu":
        environment.setdefault("OMP_NUM_THREADS", "1")
        environment |= {"XLA_FLAGS": f"--xla_force_host_platform_device_count={PARTS}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--device", device, "--subject", subject]
    return subprocess.run(command, check=False, env=environment).returncode != 0  # noqa: S603  (this script)


if __name__ == "__main__":
    sys.exit(main())
