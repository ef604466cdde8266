"""What the last bit of a sum does to a fit: ``python -m benchmarks.rounding``.

Compiled passes and NumPy's add in another order, as another processor would. Every design is fitted
with both, and with another seed for comparison; the largest change of a probability of test rows
and the change of their mean loss are printed, the worst of all sets and seeds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets

DESIGNS = {
    "paper": {"preset": "paper", "max_iterations": 3},
    "fast": {"preset": "fast"},
    "accurate": {"preset": "accurate"},
}
ROWS, SIZE, SEEDS = 300, 20, 2


def sets(seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Half to train, half to test; the last one is separable, so that its loss is flat."""
    X = np.random.default_rng(seed).normal(size=(2 * ROWS, 4))
    return {
        "twonorm": datasets.twonorm(2 * ROWS, seed=seed),
        "waveform": datasets.waveform(2 * ROWS, seed=seed),
        "ringnorm": datasets.ringnorm(2 * ROWS, seed=seed),
        "separable": (X, np.where(X[:, 0] + X[:, 1] / 2 > 0.0, 1.0, -1.0)),
    }


def log_probabilities(seed: int) -> dict[str, list[list[float]]]:
    """Of every design on every set, in this process; the fits have that seed."""
    found = {}
    warnings.simplefilter("ignore")
    for number in range(SEEDS):
        for name, (X, y) in sets(number).items():
            for title, design in DESIGNS.items():
                model = sgpc.build(design, max_basis=SIZE, seed=seed).fit(X[:ROWS], y[:ROWS])
                log_proba = model.predict_log_proba(X[ROWS:])
                found[f"{title}/{name}/{number}"] = log_proba.tolist()
    return found


def elsewhere(seed: int, fast: bool) -> dict[str, np.ndarray]:
    """The same in a process of its own, with or without compiled passes."""
    command = [sys.executable, "-m", "benchmarks.rounding", str(seed)]
    environment = {**os.environ, "SGPC_FAST": "1" if fast else "0"}
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
    return {name: np.array(each) for name, each in json.loads(output).items()}


def main() -> None:
    """Print the table as Markdown."""
    usual = elsewhere(0, fast=True)
    others = {"NumPy": elsewhere(0, fast=False), "another seed": elsewhere(1, fast=True)}
    print("| design | set | against | largest change of a probability | of the mean loss |")
    print("|---|---|---|---|---|")
    for title in DESIGNS:
        for name in sets(0):
            for against, other in others.items():
                keys = [f"{title}/{name}/{number}" for number in range(SEEDS)]
                apart = max(np.abs(np.exp(usual[k]) - np.exp(other[k])).max() for k in keys)
                losses = [(_loss(k, usual[k]), _loss(k, other[k])) for k in keys]
                change = max(abs(one - two) for one, two in losses)
                print(f"| {title} | {name} | {against} | {apart:.0e} | {change:.0e} |")


def _loss(key: str, log_proba: np.ndarray) -> float:
    _, name, number = key.split("/")
    y = sets(int(number))[name][1][ROWS:]
    return -float(np.mean(log_proba[np.arange(ROWS), (y > 0.0).astype(int)]))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(log_probabilities(int(sys.argv[1]))))
    else:
        main()
