"""The page: what was found, beside what the paper says."""

from __future__ import annotations

from pathlib import Path

from sgpc_framework.reproduction.evidence import Evidence
from sgpc_framework.reproduction.results import MEASURES

NAME = "reproduction.md"


def write_page(folder: Path, evidence: Evidence) -> Path:
    """Write the page into a folder, and return its path."""
    results = evidence.results
    lines = ["| set | method | size | test error | test NLP |", "|---|---|---|---|---|"]
    for data, method, size in sorted({(c.data, c.method, c.size) for c in results.outcomes}):
        means = (results.mean(data, method, size, measure) for measure in MEASURES)
        figures = " | ".join(f"{mean.value:.4f} ± {mean.error:.4f}" for mean in means)
        lines.append(f"| {data} | {method} | {size} | {figures} |")
    path = folder / NAME
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
