"""What the paper says of its Experiment 2, adaptive against random sampling."""

from __future__ import annotations

from collections.abc import Iterator

from sgpc_framework.lab.claims.claim import Claim, Finding, Tally, Verdict, share_rule
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.methods import VALIDATION, adaptive, random
from sgpc_framework.lab.results import Measure
from sgpc_framework.metrics.statistics import Comparison

SIMILAR = 0.05
"""Within so much of the loss, relatively, two losses are called similar."""

SEVERAL = 3
FEW = 6
"""So many exceptions are named."""


def _pairs(evidence: Evidence, measure: Measure) -> Iterator[tuple[str, int, int, Comparison]]:
    """Set, size, working set, and adaptive minus random."""
    results = evidence.results
    for data in results.scale.sets:
        for size in results.scale.small:
            for k in results.scale.working_sets:
                comparison = results.comparison(data, adaptive(k), random(k), size, measure)
                if comparison is not None:
                    yield data, size, k, comparison


def _wins(evidence: Evidence, measure: Measure) -> Finding | None:
    pairs = list(_pairs(evidence, measure))
    if not pairs:
        return None
    lower = sum(c.difference < 0.0 for *_, c in pairs)
    tests = Tally.of(comparison for *_, comparison in pairs)
    sets = {data for data, *_ in pairs}
    all_of = [s for s in sets if all(c.difference < 0.0 for data, *_, c in pairs if data == s)]
    figure = (
        f"lower mean in {lower} of {len(pairs)} (set, size, κ), in all of a set's on {len(all_of)} "
        f"of {len(sets)} sets; Wilcoxon: {tests}"
    )
    others = [f"{data.title()} {size} κ = {k}" for data, size, k, c in pairs if c.difference >= 0.0]
    figure += f"; not lower: {', '.join(others)}" if 0 < len(others) <= FEW else ""
    return Finding(figure, share_rule(lower, len(pairs)), "a lower mean in all cases")


def _particularly_nlp(evidence: Evidence) -> Finding | None:
    nlp, error = (
        Tally.of(comparison for *_, comparison in _pairs(evidence, measure))
        for measure in ("test_nlp", "test_error")
    )
    if not nlp.total:
        return None
    verdict: Verdict = "holds" if nlp.better > error.better and not nlp.worse else "does not"
    rule = "more significant gains in NLP than in error, and no loss in NLP"
    return Finding(f"NLP: {nlp}; error: {error}", verdict, rule)


def _errors(evidence: Evidence) -> Finding | None:
    tests = Tally.of(comparison for *_, comparison in _pairs(evidence, "test_error"))
    if not tests.total:
        return None
    verdict = share_rule(min(tests.better, SEVERAL), SEVERAL)
    return Finding(str(tests), verdict, f"significantly better in at least {SEVERAL} cases")


def _gaps(evidence: Evidence) -> Finding | None:
    gaps: dict[tuple[str, int], list[float]] = {}
    for data, size, _, comparison in _pairs(evidence, "test_nlp"):
        gaps.setdefault((data, size), []).append(abs(comparison.difference))
    whole = [gap for gap in gaps.values() if len(gap) > 1]
    if not whole:
        return None
    closed = sum(gap[-1] < gap[0] for gap in whole)
    first, last = (sum(gap[i] for gap in whole) / len(whole) for i in (0, -1))
    figure = (
        f"the gap in NLP is smaller at the largest κ than at κ = 1 in {closed} of {len(whole)} "
        f"(set, size); its mean falls from {first:.4f} to {last:.4f}"
    )
    return Finding(figure, share_rule(closed, len(whole)), "smaller in all cases")


def _two_is_enough(evidence: Evidence) -> Finding | None:
    results = evidence.results
    within, worst, cases = dict.fromkeys(results.scale.working_sets, 0), "", 0
    most = -1.0
    for data in results.scale.sets:
        for size in results.scale.small:
            methods = {k: adaptive(k) for k in {*within, 2}}
            shared = results.common(data, [VALIDATION, *methods.values()], size)
            if not shared:
                continue
            cases += 1
            loss = results.mean(data, VALIDATION, size, "test_nlp", shared).value
            excess = {
                k: results.mean(data, name, size, "test_nlp", shared).value / loss - 1.0
                for k, name in methods.items()
            }
            within = {k: count + (excess[k] <= SIMILAR) for k, count in within.items()}
            if excess[2] > most:
                most, worst = excess[2], f"{data.title()} at {size}"
    if not cases:
        return None
    each = ", ".join(f"κ = {k}: {count}" for k, count in within.items())
    figure = (
        f"within {SIMILAR:.0%} of validation, or below, in so many of {cases} (set, size): {each}; "
        f"farthest with κ = 2 is {worst}, {most:+.0%}"
    )
    return Finding(figure, share_rule(within[2], cases), "so with κ = 2 in all cases")


CLAIMS = (
    Claim(
        "Adaptive sampling consistently performed better than random sampling across all the "
        "data sets: NLP.",
        lambda evidence: _wins(evidence, "test_nlp"),
    ),
    Claim("The same: test error.", lambda evidence: _wins(evidence, "test_error")),
    Claim("... particularly with respect to the NLP loss.", _particularly_nlp),
    Claim("Improved test error was observed in several cases.", _errors),
    Claim("The difference reduces as the working set size κ increases.", _gaps),
    Claim(
        "κ = 2 is sufficient for adaptive sampling to get a similar NLP as the validation method.",
        _two_is_enough,
    ),
)
