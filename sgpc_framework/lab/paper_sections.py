"""The parts of the page that are made of evidence, as Markdown."""

from __future__ import annotations

from statistics import median

from sgpc_framework.lab.bayes import Floor
from sgpc_framework.lab.claims import CLAIMS
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.markdown import markdown_table
from sgpc_framework.lab.methods import (
    OPTIMISED_SITES,
    PROPOSED,
    REFINED,
    VALIDATION,
    adaptive,
)
from sgpc_framework.lab.paper_tables import mean_text, means
from sgpc_framework.lab.plan import STAGED
from sgpc_framework.lab.results import MEASURES, SHORT, Results, counted_kinds
from sgpc_framework.lab.timing import TIMED, ratio


def claims(evidence: Evidence) -> str:
    parts = []
    for title, stated in CLAIMS.items():
        rows = []
        for claim in stated:
            finding = claim.judge(evidence)
            why = claim.why.get(finding.verdict, "")
            rule = f"Rule: {finding.rule}." if finding.rule else ""
            rows.append(
                (claim.text, finding.figure, f"**{finding.verdict}**", f"{why} {rule}".strip())
            )
        parts.append(
            f"### {title}\n\n{markdown_table(('the paper', 'here', 'verdict', 'why'), rows)}"
        )
    return "\n\n".join(parts)


def verdicts(evidence: Evidence) -> str:
    """How many claims hold, in words."""
    verdicts = [claim.judge(evidence).verdict for stated in CLAIMS.values() for claim in stated]
    counted = ((verdicts.count(verdict), verdict) for verdict in dict.fromkeys(verdicts))
    each = ", ".join(f"{count} {verdict}" for count, verdict in sorted(counted, reverse=True))
    return f"Of {len(verdicts)} claims: {each}."


def data(evidence: Evidence) -> str:
    rows = []
    for name in evidence.results.scale.sets:
        if sources := evidence.results.sources(name):
            facts = _sizes(evidence, name)
            rows.append((name.title(), *facts, str(len(sources)), counted_kinds(sources)))
    return markdown_table(
        ("set", "training rows", "test rows", "features", "partitions", "source"), rows
    )


def _sizes(evidence: Evidence, name: str) -> tuple[str, str, str]:
    from sgpc_framework.datasets import BENCHMARKS

    facts = BENCHMARKS[name]
    return str(evidence.results.scale.rows or facts.train), str(facts.test), str(facts.features)


def sites(results: Results) -> str:
    size, rows = results.scale.sizes[1], []
    for name in STAGED:
        both = results.common(name, [PROPOSED, OPTIMISED_SITES], size)
        for measure in MEASURES if both else ():
            comparison = results.comparison(name, OPTIMISED_SITES, PROPOSED, size, measure)
            assert comparison is not None
            both_means = (
                mean_text(results.mean(name, method, size, measure, both), measure)
                for method in (PROPOSED, OPTIMISED_SITES)
            )
            rows.append(
                (name.title(), SHORT[measure], *both_means, str(len(both)), f"{comparison.p:.2g}")
            )
    head = ("set", "test", "moment matching", "predictive loss", "partitions", "Wilcoxon p")
    return markdown_table(head, rows)


def seconds(evidence: Evidence) -> str:
    rows = [
        (
            job.data.title(),
            *(f"{1000 * median(took[method]):.0f}" for method in TIMED),
            f"{ratio(took, VALIDATION, adaptive(1)):.1f}",
        )
        for job, took in evidence.seconds.items()
    ]
    return markdown_table(
        ("set", *(f"{method}, ms" for method in TIMED), "validation / adaptive 1"), rows
    )


def refiners(results: Results, floors: dict[str, Floor]) -> str:
    methods, parts = (PROPOSED, VALIDATION, *REFINED), []
    for measure in MEASURES:
        lines = means(results, methods, results.scale.small, measure)
        if lines:
            parts.append(f"Test {SHORT[measure]}:\n\n{lines}")
    rows = [
        (
            name.title(),
            f"{floor.error.text(2, factor=100.0)} %",
            floor.nlp.text(4),
        )
        for name, floor in floors.items()
        if name in results.scale.sets
    ]
    if parts:
        least = markdown_table(("set", "error", "NLP (log loss)"), rows)
        parts.append(f"No classifier does better than:\n\n{least}")
    return "\n\n".join(parts)
