"""Writes docs/coverage.md: compiles every construct of tests/constructs and checks its gradient."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from constructs.outcome import outcomes
from constructs.page import PAGE, page
from constructs.table import FILES

if __name__ == "__main__":
    PAGE.write_text(page((file, outcomes(file, secrets.randbits(31))) for file in FILES), encoding="utf-8")
