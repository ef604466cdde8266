"""Tables of methods side by side, as Markdown: means, Wilcoxon's and Friedman's tests."""

from __future__ import annotations

from collections.abc import Sequence

from sgpc_framework.lab.claims.claim import Tally, tally
from sgpc_framework.lab.markdown import markdown_table
from sgpc_framework.lab.methods import (
    ENTROPY,
    GAIN,
    GAIN_REVERSED,
    PROPOSED,
    VALIDATION,
    adaptive,
)
from sgpc_framework.lab.ranks import PAPER_P, POST_HOC_LEVEL, RANKED
from sgpc_framework.lab.results import MEASURES, SHORT, Measure, Outcomes, Results
from sgpc_framework.metrics.rank_tests import critical_difference
from sgpc_framework.metrics.statistics import Comparison, Mean


def mean_text(mean: Mean, measure: Measure) -> str:
    """An error in percent, a loss in nats."""
    return mean.text(2, factor=100.0) if measure == "test_error" else mean.text(3)


def means(results: Outcomes, methods: Sequence[str], sizes: Sequence[int], measure: Measure) -> str:
    """Sets and sizes by methods, mean and standard error, the least in bold."""
    header, rows = mean_rows(results, methods, sizes, measure)
    return markdown_table(header, [(name.title(), *others) for name, *others in rows])


def mean_rows(
    results: Outcomes, methods: Sequence[str], sizes: Sequence[int], measure: Measure
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The same as a header and rows."""
    rows: list[tuple[str, ...]] = []
    for name in results.sets:
        for size in sizes:
            shared = results.common(name, methods, size)
            if shared:
                row = [results.mean(name, m, size, measure, shared) for m in methods]
                least = min(mean.value for mean in row)
                bold = ("**" if mean.value == least else "" for mean in row)
                cells = (
                    f"{mark}{mean_text(mean, measure)}{mark}"
                    for mark, mean in zip(bold, row, strict=True)
                )
                rows.append((name, str(size), str(len(shared)), *cells))
    return ("set", "size", "n", *methods), rows


def wilcoxon(results: Results, measure: Measure) -> str:
    """The proposed method against the others, set by set."""
    rivals = (ENTROPY, GAIN, GAIN_REVERSED, adaptive(1), VALIDATION)
    rows = []
    for name in results.scale.sets:
        for size in results.scale.sizes:
            comparisons = [
                results.comparison(name, PROPOSED, rival, size, measure) for rival in rivals
            ]
            if all(comparisons):
                rows.append((name.title(), str(size), *(_test(c) for c in comparisons if c)))
    return markdown_table(("set", "size", *rivals), rows)


def _test(comparison: Comparison) -> str:
    word = "better" if comparison.better else "worse" if comparison.worse else "same"
    word = word if comparison.telling else f"n = {comparison.count}"
    return f"{word} ({comparison.p:.2g})"


def friedman(results: Results) -> str:
    rows = []
    for measure in MEASURES:
        for size, paper in zip(results.scale.sizes, PAPER_P[measure], strict=True):
            ours = results.friedman(RANKED, size, measure)
            other = results.friedman((*RANKED[:3], GAIN_REVERSED), size, measure)
            if ours is None or other is None:
                continue
            reach = critical_difference(len(RANKED), ours.sets, POST_HOC_LEVEL)
            ranks = [
                f"{rank:.2f}{' *' * (abs(rank - ours.ranks[PROPOSED]) > reach)}"
                for rank in ours.ranks.values()
            ]
            p_values = f"{ours.p:.2g}", f"{ours.p_iman_davenport:.2g}", f"{other.p:.2g}"
            rows.append((SHORT[measure], str(size), *ranks, *p_values, f"{paper:g}"))
    p_names = ("p", "p (Iman-Davenport)", "p with old-new", "the paper's p")
    return markdown_table(
        ("test", "size", *(f"rank of {method}" for method in RANKED), *p_names), rows
    )


def directions(results: Results) -> str:
    """How often each direction of information gain does what the paper says of it."""
    rows, agreeing = [], {}
    for name in (GAIN, GAIN_REVERSED):
        remarks = (
            _remark(results, name, ENTROPY, ("banana", "waveform", "ringnorm"), MEASURES),
            _remark(results, ENTROPY, name, ("twonorm",), ["test_error"]),
            _remark(results, ENTROPY, name, ("image",), MEASURES, results.scale.small),
        )
        against = _remark(results, PROPOSED, name, results.scale.sets, MEASURES)
        rows.append((name, *map(str, remarks), str(against)))
        agreeing[name] = Tally.sum(remarks)
    if not all(tests.total for tests in agreeing.values()):
        return ""
    head = (
        "direction",
        "beside entropy on Banana, Waveform, Ringnorm",
        "entropy beside it on Twonorm, error",
        "entropy beside it on Image, small sizes",
        "the proposed method beside it, all sets",
    )
    ours, other = agreeing.values()
    more = "new-old" if ours.better > other.better else "old-new"
    verdict = "both come as near" if ours.better == other.better else f"{more} comes nearer"
    half = 2 * max(ours.better, other.better) >= ours.total
    said = (
        'The paper says "better" in the first three columns. '
        f"new-old agrees in {ours.better} of {ours.total} tests and is against it in {ours.worse}; "
        f"old-new agrees in {other.better} of {other.total} and is against it in {other.worse}. "
        f"So the paper's remarks are {'mostly' if half else 'not'} reproduced; {verdict}."
    )
    return f"{markdown_table(head, rows)}\n\n{said}"


def _remark(
    results: Results,
    first: str,
    second: str,
    sets: Sequence[str],
    measures: Sequence[Measure],
    sizes: Sequence[int] | None = None,
) -> Tally:
    return tally(results, first, [second], sets, sizes or results.scale.sizes, measures)
