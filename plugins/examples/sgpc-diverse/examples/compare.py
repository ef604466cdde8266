"""Selectors side by side on generated data, with clean and with partly wrong labels.

    python examples/compare.py [--max-basis 20 40] [--seeds 20] [--first-seed 100]

Every selector gets the same data sets and seeds, so differences are taken seed by seed: after each
mean stands the difference to adaptive sampling with its standard error. Seeds below 100 were used
to choose among ideas, so the default begins there.
"""

from __future__ import annotations

import argparse

import numpy as np
import sgpc_framework as sgpc
from sgpc_framework import datasets

SETS = {"waveform": datasets.waveform, "twonorm": datasets.twonorm, "ringnorm": datasets.ringnorm}
SELECTORS = ("adaptive-sampling", "conditional-variance", "margin-variance")
ROWS, TEST_ROWS = 500, 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-basis", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--seeds", type=int, default=20, help="data sets and fits to average over")
    parser.add_argument("--first-seed", type=int, default=100)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    print(f"{ROWS} training rows, {TEST_ROWS} test rows, seeds {seeds[0]} to {seeds[-1]}\n")
    print(f"{'set':<9} {'wrong':>5} {'basis':>5} {'selector':<21} {'test error %':>20} {'NLP':>24}")
    for name in SETS:
        for wrong in (0.0, 0.15):
            for max_basis in options.max_basis:
                compare(name, wrong, max_basis, seeds)


def compare(name: str, wrong: float, max_basis: int, seeds: range) -> None:
    """One line for each selector."""
    results = {
        selector: np.array([scored(selector, name, wrong, max_basis, seed) for seed in seeds])
        for selector in SELECTORS
    }
    for selector, found in results.items():
        error, nlp = found.mean(axis=0)
        gaps = found - results[SELECTORS[0]]
        error_gap, nlp_gap = gaps.mean(axis=0)
        error_doubt, nlp_doubt = gaps.std(axis=0, ddof=min(1, len(gaps) - 1)) / len(gaps) ** 0.5
        print(
            f"{name:<9} {wrong:>5.0%} {max_basis:>5} {selector:<21} "
            f"{100 * error:>6.2f} ({100 * error_gap:+.2f} ± {100 * error_doubt:.2f}) "
            f"{nlp:>8.4f} ({nlp_gap:+.4f} ± {nlp_doubt:.4f})"
        )


def scored(selector: str, name: str, wrong: float, max_basis: int, seed: int) -> tuple[float, ...]:
    """Test error and test NLP. Only training labels are wrong, each with this probability."""
    X, y = SETS[name](ROWS + TEST_ROWS, seed=seed)
    flipped = np.random.default_rng(seed).random(ROWS) < wrong
    labels = np.where(flipped, -y[:ROWS], y[:ROWS])
    design = sgpc.build(selector=selector, max_basis=max_basis, max_iterations=6, seed=seed)
    proba = design.fit(X[:ROWS], labels).predict_proba(X[ROWS:])
    truth = (y[ROWS:] > 0).astype(int)
    nlp = -np.mean(np.log(proba[np.arange(TEST_ROWS), truth]))
    return float(np.mean(proba.argmax(axis=1) != truth)), float(nlp)


if __name__ == "__main__":
    main()
