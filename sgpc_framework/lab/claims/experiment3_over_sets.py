"""What the paper says of Friedman's test over the data sets, and of the test after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from sgpc_framework.lab.claims.claim import Claim, Finding, share_rule
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.methods import ENTROPY, GAIN, PROPOSED, VALIDATION
from sgpc_framework.lab.ranks import PAPER_P, POST_HOC_LEVEL, RANKED
from sgpc_framework.lab.results import MEASURES, SHORT, Measure
from sgpc_framework.metrics.rank_tests import Friedman, critical_difference
from sgpc_framework.metrics.statistics import LEVEL

EVERYWHERE = slice(None)


def _tests(
    evidence: Evidence, measures: Sequence[Measure], at: slice = EVERYWHERE
) -> dict[tuple[Measure, int], Friedman]:
    sizes: tuple[int, ...] = tuple(evidence.results.scale.sizes)[at]
    tests = {
        (measure, size): evidence.results.friedman(RANKED, size, measure)
        for measure in measures
        for size in sizes
    }
    return {place: test for place, test in tests.items() if test is not None}


def _p_values(tests: dict[tuple[Measure, int], Friedman]) -> str:
    by_measure: dict[str, list[str]] = {}
    for (measure, _), test in tests.items():
        by_measure.setdefault(SHORT[measure], []).append(f"{test.p:.2g}")
    return ", ".join(f"{measure} ({', '.join(ps)})" for measure, ps in by_measure.items())


def _rejections(evidence: Evidence) -> Finding | None:
    tests = _tests(evidence, MEASURES, slice(3))
    if not tests:
        return None
    hits = sum(test.p < LEVEL for test in tests.values())
    paper = ", ".join(f"{SHORT[m]} {PAPER_P[m][:3]}" for m in MEASURES)
    figure = f"p: {_p_values(tests)}; the paper: {paper}"
    return Finding(figure, share_rule(hits, len(tests)), f"all p < {LEVEL}")


def _not_at_the_largest(evidence: Evidence) -> Finding | None:
    tests = _tests(evidence, MEASURES, slice(3, None))
    if not tests:
        return None
    hits = sum(test.p >= LEVEL for test in tests.values())
    paper = ", ".join(f"{SHORT[m]} {PAPER_P[m][3]}" for m in MEASURES)
    figure = f"p: {_p_values(tests)}; the paper: {paper}"
    return Finding(figure, share_rule(hits, len(tests)), f"both p ≥ {LEVEL}")


def _post_hoc(
    rivals: Sequence[str],
    measures: Sequence[Measure],
    different: bool,
    at: slice = EVERYWHERE,
) -> Callable[[Evidence], Finding | None]:
    """Bonferroni-Dunn against the proposed method; ``different`` is what the paper found."""

    def find(evidence: Evidence) -> Finding | None:
        tests, hits, parts = _tests(evidence, measures, at), 0, []
        if not tests:
            return None
        for (measure, size), test in tests.items():
            reach = critical_difference(len(RANKED), test.sets, POST_HOC_LEVEL)
            behind = {rival: test.ranks[rival] - test.ranks[PROPOSED] for rival in rivals}
            apart = {rival for rival, gap in behind.items() if abs(gap) > reach}
            for rival, gap in behind.items():
                hits += (rival in apart and gap > 0) if different else (rival not in apart)
            gaps = ", ".join(f"{gap:+.2f}{'*' * (r in apart)}" for r, gap in behind.items())
            parts.append(f"{SHORT[measure]} {size}: {gaps}")
        figure = f"rank behind ours ({', '.join(rivals)}): {'; '.join(parts)}; CD {reach:.2f}"
        total = len(tests) * len(rivals)
        rule = "all beyond the critical difference" if different else "none beyond it"
        return Finding(figure, share_rule(hits, total), f"{rule} at {POST_HOC_LEVEL}")

    return find


def _growth_of_p(evidence: Evidence) -> Finding | None:
    tests = _tests(evidence, MEASURES)
    if len(tests) < 2 * len(evidence.results.scale.sizes):
        return None
    rises, steps = 0, 0
    for measure in MEASURES:
        ps = [tests[measure, size].p for size in evidence.results.scale.sizes]
        rises += sum(late >= early for early, late in pairwise(ps))
        steps += len(ps) - 1
    figure = f"p: {_p_values(tests)}"
    return Finding(figure, share_rule(rises, steps), "p never falls from a size to the next")


_FEW_SETS = (
    "Six sets are few: the critical difference is more than half of the whole range of ranks, and "
    "validation, ranked first, leaves the proposed method the second place."
)

CLAIMS = (
    Claim("Friedman's test rejects equal performance at 40, 80 and 160.", _rejections),
    Claim(
        "At 320 the results were not significantly different in both measures.",
        _not_at_the_largest,
    ),
    Claim(
        "Bonferroni-Dunn: no significant differences between the proposed and the validation "
        "method at all sizes, in both measures.",
        _post_hoc([VALIDATION], MEASURES, different=False),
    ),
    Claim(
        "Against entropy and information gain the results were not significantly different in test "
        "error.",
        _post_hoc([ENTROPY, GAIN], ["test_error"], different=False, at=slice(3)),
        {"partly": "With a star: information gain is beyond the critical difference."},
    ),
    Claim(
        "... but they were in NLP for lower sizes at the 0.1 level.",
        _post_hoc([ENTROPY, GAIN], ["test_nlp"], different=True, at=slice(2)),
        {"partly": _FEW_SETS, "does not": _FEW_SETS},
    ),
    Claim(
        "The p-value became larger, and the differences across the methods smaller, as the size "
        "increased.",
        _growth_of_p,
    ),
)
