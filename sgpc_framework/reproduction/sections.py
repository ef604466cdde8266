"""The tables of the page, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from sgpc_framework.reproduction.bayes import Floor
from sgpc_framework.reproduction.claims import CLAIMS
from sgpc_framework.reproduction.claims.claim import SHORT, Tally
from sgpc_framework.reproduction.evidence import Evidence
from sgpc_framework.reproduction.methods import (
    ENTROPY,
    GAIN,
    GAIN_REVERSED,
    OPTIMISED_SITES,
    PROPOSED,
    REFINED,
    VALIDATION,
    adaptive,
)
from sgpc_framework.reproduction.plan import STAGED
from sgpc_framework.reproduction.ranks import LEVEL, PAPER_P, RANKED
from sgpc_framework.reproduction.results import MEASURES, Measure, Results
from sgpc_framework.reproduction.statistics import Comparison, Mean, critical_difference
from sgpc_framework.reproduction.timing import TIMED, ratio


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; nothing where there are no rows."""
    body = [f"| {' | '.join(row)} |" for row in rows]
    head = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join([*head, *body]) if body else ""


def claims(evidence: Evidence) -> str:
    parts = []
    for title, stated in CLAIMS.items():
        rows = []
        for claim in stated:
            found = claim.judged(evidence)
            why = claim.why.get(found.verdict, "")
            rule = f"Rule: {found.rule}." if found.rule else ""
            rows.append((claim.text, found.figure, f"**{found.verdict}**", f"{why} {rule}".strip()))
        parts.append(f"### {title}\n\n{table(('the paper', 'here', 'verdict', 'why'), rows)}")
    return "\n\n".join(parts)


def verdicts(evidence: Evidence) -> str:
    """How many claims hold, in words."""
    found = [claim.judged(evidence).verdict for stated in CLAIMS.values() for claim in stated]
    counted = ((found.count(verdict), verdict) for verdict in dict.fromkeys(found))
    each = ", ".join(f"{count} {verdict}" for count, verdict in sorted(counted, reverse=True))
    return f"Of {len(found)} claims: {each}."


def data(evidence: Evidence) -> str:
    rows = []
    for name in evidence.results.scale.sets:
        cells = [cell for cell in evidence.results.outcomes if cell.data == name]
        if cells:
            sources = {cell.partition: evidence.results.outcomes[cell].source for cell in cells}
            facts = _sizes(evidence, name)
            rows.append((name.title(), *facts, str(len(sources)), _ranges(sources)))
    return table(("set", "training rows", "test rows", "features", "partitions", "source"), rows)


def _sizes(evidence: Evidence, name: str) -> tuple[str, str, str]:
    from sgpc_framework.datasets import BENCHMARKS

    facts = BENCHMARKS[name]
    return str(evidence.results.scale.rows or facts.train), str(facts.test), str(facts.features)


def _ranges(sources: dict[int, str]) -> str:
    """Sources in words, with the number of partitions of each kind.

    >>> _ranges({0: "Raetsch's split 1", 1: "Raetsch's split 2", 2: "random partition 2"})
    "2 Raetsch's, 1 random"
    """
    kinds = [source.split()[0].rstrip(",") for source in sources.values()]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def sites(results: Results) -> str:
    size, rows = results.scale.sizes[1], []
    for name in STAGED:
        both = results.common(name, [PROPOSED, OPTIMISED_SITES], size)
        for measure in MEASURES if both else ():
            found = results.comparison(name, OPTIMISED_SITES, PROPOSED, size, measure)
            assert found is not None
            means = (
                _cell(results.mean(name, method, size, measure, both), measure)
                for method in (PROPOSED, OPTIMISED_SITES)
            )
            rows.append((name.title(), SHORT[measure], *means, str(len(both)), f"{found.p:.2g}"))
    head = ("set", "test", "moment matching", "predictive loss", "partitions", "Wilcoxon p")
    return table(head, rows)


def means(results: Results, methods: Sequence[str], sizes: Sequence[int], measure: Measure) -> str:
    """Sets and sizes by methods, mean and standard error, the least in bold."""
    rows = []
    for name in results.scale.sets:
        for size in sizes:
            shared = results.common(name, methods, size)
            if shared:
                found = [results.mean(name, m, size, measure, shared) for m in methods]
                least = min(mean.value for mean in found)
                cells = [
                    f"**{_cell(mean, measure)}**" if mean.value == least else _cell(mean, measure)
                    for mean in found
                ]
                rows.append((name.title(), str(size), str(len(shared)), *cells))
    return table(("set", "size", "n", *methods), rows)


def wilcoxon(results: Results, measure: Measure) -> str:
    """The proposed method against the others, set by set."""
    rivals = (ENTROPY, GAIN, GAIN_REVERSED, adaptive(1), VALIDATION)
    rows = []
    for name in results.scale.sets:
        for size in results.scale.sizes:
            found = [results.comparison(name, PROPOSED, rival, size, measure) for rival in rivals]
            if all(found):
                rows.append((name.title(), str(size), *(_test(c) for c in found if c)))
    return table(("set", "size", *rivals), rows)


def _test(comparison: Comparison) -> str:
    word = "better" if comparison.better else "worse" if comparison.worse else "same"
    word = word if comparison.telling else f"n = {comparison.count}"
    return f"{word} ({comparison.p:.2g})"


def friedman(results: Results) -> str:
    rows = []
    for measure in MEASURES:
        for size, paper in zip(results.scale.sizes, PAPER_P[measure], strict=True):
            found = results.friedman(RANKED, size, measure)
            other = results.friedman((*RANKED[:3], GAIN_REVERSED), size, measure)
            if found is None or other is None:
                continue
            reach = critical_difference(len(RANKED), found.sets, LEVEL)
            ranks = [
                f"{rank:.2f}{' *' * (abs(rank - found.ranks[PROPOSED]) > reach)}"
                for rank in found.ranks.values()
            ]
            p_values = f"{found.p:.2g}", f"{found.p_iman_davenport:.2g}", f"{other.p:.2g}"
            rows.append((SHORT[measure], str(size), *ranks, *p_values, f"{paper:g}"))
    p_names = ("p", "p (Iman-Davenport)", "p with old-new", "the paper's p")
    return table(("test", "size", *(f"rank of {method}" for method in RANKED), *p_names), rows)


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
    verdict = "both alike" if ours.better == other.better else f"{more} rather than the other"
    said = (
        'The paper says "better" in the first three columns. '
        f"new-old agrees in {ours.better} of {ours.total} tests and is against it in {ours.worse}; "
        f"old-new agrees in {other.better} of {other.total} and is against it in {other.worse}. "
        f"So the paper's remarks are reproduced by {verdict}."
    )
    return f"{table(head, rows)}\n\n{said}"


def _remark(
    results: Results,
    first: str,
    second: str,
    sets: Sequence[str],
    measures: Sequence[Measure],
    sizes: Sequence[int] | None = None,
) -> Tally:
    from sgpc_framework.reproduction.claims.claim import tally

    return tally(results, first, [second], sets, sizes or results.scale.sizes, measures)


def seconds(evidence: Evidence) -> str:
    rows = [
        (
            job.data.title(),
            *(f"{1000 * median(took[method]):.0f}" for method in TIMED),
            f"{ratio(took, VALIDATION, adaptive(1)):.1f}",
        )
        for job, took in evidence.seconds.items()
    ]
    return table(("set", *(f"{method}, ms" for method in TIMED), "validation / adaptive 1"), rows)


def refined(results: Results, floors: dict[str, Floor]) -> str:
    methods, parts = (PROPOSED, VALIDATION, *REFINED), []
    for measure in MEASURES:
        found = means(results, methods, results.scale.small, measure)
        if found:
            parts.append(f"Test {SHORT[measure]}:\n\n{found}")
    rows = [
        (
            name.title(),
            f"{100 * floor.error:.2f} ± {100 * floor.error_se:.2f} %",
            f"{floor.nlp:.4f} ± {floor.nlp_se:.4f}",
        )
        for name, floor in floors.items()
        if name in results.scale.sets
    ]
    if parts:
        parts.append(f"No classifier does better than:\n\n{table(('set', 'error', 'NLP'), rows)}")
    return "\n\n".join(parts)


def _cell(mean: Mean, measure: Measure) -> str:
    scale, digits = (100.0, 2) if measure == "test_error" else (1.0, 3)
    error = "" if mean.count < 2 else f" ± {scale * mean.error:.{digits}f}"
    return f"{scale * mean.value:.{digits}f}{error}"
