"""What the paper says of computing times."""

from __future__ import annotations

from statistics import median

from sgpc_framework.lab.claims.claim import ALMOST, Claim, Finding, share_rule
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.methods import ENTROPY, GAIN, VALIDATION, adaptive
from sgpc_framework.lab.timing import ratio

PAPER_RATIO, PAPER_SECONDS, MOST = 5.0, 20.0, 59.0
ALMOST_THE_SAME = 1.5
"""A ratio of times up to which they are called almost the same."""


def _ratios(evidence: Evidence, slow: str, quick: str) -> dict[str, float]:
    return {job.data: ratio(seconds, slow, quick) for job, seconds in evidence.seconds.items()}


def _list(ratios: dict[str, float]) -> str:
    return ", ".join(f"{data.title()} {value:.1f}" for data, value in ratios.items())


def _same_time(evidence: Evidence) -> Finding | None:
    if not evidence.seconds:
        return None
    others = {
        method: _ratios(evidence, method, adaptive(1)) for method in (ENTROPY, GAIN, adaptive(2))
    }
    values = [value for ratios in others.values() for value in ratios.values()]
    near = sum(1 / ALMOST_THE_SAME <= value <= ALMOST_THE_SAME for value in values)
    each = ", ".join(f"{m} {median(ratios.values()):.2f}" for m, ratios in others.items())
    figure = f"medians over the sets beside adaptive 1: {each}"
    rule = f"between 1/{ALMOST_THE_SAME} and {ALMOST_THE_SAME} times on every set"
    return Finding(figure, share_rule(near, len(values)), rule)


def _twenty_seconds(evidence: Evidence) -> Finding | None:
    seconds = [s[adaptive(1)] for job, s in evidence.seconds.items() if job.data == "banana"]
    if not seconds:
        return None
    took = median(seconds[0])
    figure = f"{took:.3f} s, {PAPER_SECONDS / took:.0f} times as fast"
    near = 0.5 <= took / PAPER_SECONDS <= 2.0
    return Finding(figure, "holds" if near else "does not", "within a factor of two")


def _five_times(evidence: Evidence) -> Finding | None:
    ratios = _ratios(evidence, VALIDATION, adaptive(1))
    fast = sum(value >= PAPER_RATIO for value in ratios.values())
    if not ratios:
        return None
    rule = f"at least {PAPER_RATIO:.0f} times on five of six sets"
    return Finding(_list(ratios), share_rule(fast, len(ratios), ALMOST), rule)


def _not_59(evidence: Evidence) -> Finding | None:
    ratios = _ratios(evidence, VALIDATION, adaptive(1))
    if not ratios:
        return None
    below = sum(value < MOST for value in ratios.values())
    return Finding(
        f"at most {max(ratios.values()):.1f}", share_rule(below, len(ratios)), "below 59"
    )


def _higher_elsewhere(evidence: Evidence) -> Finding | None:
    ratios = _ratios(evidence, VALIDATION, adaptive(1))
    if not ratios:
        return None
    above = sum(value > PAPER_RATIO for value in ratios.values())
    figure = f"median over the sets {median(ratios.values()):.1f}"
    return Finding(figure, share_rule(above, len(ratios)), "above 5 on every set")


CLAIMS = (
    Claim(
        "Except for validation, all methods required almost the same time for basis vector "
        "selection.",
        _same_time,
        {
            "partly": "Working set 2 has two residual columns to compute and two candidates to try "
            "at every stage, so it costs about twice as much as working set 1."
        },
    ),
    Claim(
        "One inner loop at 80 with κ = 1 took approximately 20 seconds on Banana (Matlab, dual "
        "core at 1.83 GHz).",
        _twenty_seconds,
        {"does not": "Another machine, and compiled passes in place of Matlab's."},
    ),
    Claim(
        "The proposed method was 5 times faster than validation on almost all the data sets.",
        _five_times,
    ),
    Claim("The speed improvement was not as high as 59.", _not_59),
    Claim(
        "It is expected to be higher with implementations in other languages.",
        _higher_elsewhere,
    ),
)
