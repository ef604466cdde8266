"""The tables of a comparison's page."""

from __future__ import annotations

from statistics import fmean

from sgpc_framework.lab.bayes import floor
from sgpc_framework.lab.cells import data_of
from sgpc_framework.lab.data_sources import GeneratedSet, Source
from sgpc_framework.lab.findings import Findings, mean_of
from sgpc_framework.lab.judgement import Judgement
from sgpc_framework.lab.pages import Table
from sgpc_framework.lab.paper_tables import mean_rows
from sgpc_framework.lab.results import SHORT, Measure, counted_kinds
from sgpc_framework.metrics.statistics import Mean

MANY = 6
"""More methods than these are the rows of a table, not its columns."""

FLOOR_ROWS = 20_000
"""Over how many rows the best possible error is averaged."""


def verdict_table(findings: Findings) -> Table:
    """Each method beside the control, at each size, in each measure."""
    rows = []
    for judged in findings.judgements:
        for method in judged.methods:
            if method == judged.control:
                continue
            tally, wins = judged.tally(method), judged.wins(method)
            tests = f"{tally.better} / {tally.same} / {tally.worse}"
            rows.append(
                (
                    method,
                    SHORT[judged.measure],
                    str(judged.size),
                    tests if tally.total else "too few partitions",
                    " / ".join(map(str, wins)),
                    _bold_unless_same(judged.over_sets(method)),
                )
            )
    head = ("method", "test", "size", "better / same / worse", "lower / equal / higher")
    return Table((*head, "over the sets"), sorted(rows, key=lambda row: (row[1] != "NLP", row[0])))


def _bold_unless_same(verdict: str) -> str:
    return f"**{verdict}**" if verdict in ("better", "worse") else verdict


def friedman_table(findings: Findings) -> Table:
    """Mean ranks and what Friedman's test says of them."""
    rows = []
    for judged in findings.judgements:
        test = judged.friedman
        if test is None:
            continue
        ranks = [
            f"{test.ranks[m]:.2f}{' *' * (judged.over_sets(m) in ('better', 'worse'))}"
            if m in test.ranks
            else "-"
            for m in findings.methods
        ]
        differences = f"{judged.reach:.2f}", f"{judged.nemenyi:.2f}"
        p = _p(test.p_iman_davenport)
        rows.append(
            (SHORT[judged.measure], str(judged.size), str(test.sets), p, *ranks, *differences)
        )
    heads = ("test", "size", "sets", "p", *findings.methods, "Bonferroni-Dunn", "Nemenyi")
    return _turned_if_wide(Table(heads, rows), findings)


def mean_table(findings: Findings, measure: Measure) -> Table:
    """Sets and sizes by methods."""
    table = Table(*mean_rows(findings.outcomes, findings.methods, findings.sizes, measure))
    return _turned_if_wide(table, findings)


def _turned_if_wide(table: Table, findings: Findings) -> Table:
    """With many methods, a column for each row of the table, named by its first two entries."""
    if len(findings.methods) <= MANY or not table.rows:
        return table
    heads = ("", *(", ".join(row[:2]) for row in table.rows))
    turned = zip(*(row[2:] for row in table.rows), strict=True)
    return Table(heads, [(name, *row) for name, row in zip(table.header[2:], turned, strict=True)])


def floor_table(findings: Findings) -> Table:
    """The Bayes error and NLP of the sets whose distribution is known."""
    rows = []
    for source in findings.plan.sources:
        if isinstance(source, GeneratedSet) and source.name in findings.outcomes.sets:
            least = floor(source.name, FLOOR_ROWS)
            rows.append((source.name, least.error.text(2, factor=100.0), least.nlp.text(3)))
    return Table(("set", "error, %", "NLP (log loss)"), rows)


def duel_table(judged: Judgement) -> Table:
    """Every pair with the control, set by set."""
    percent = judged.measure == "test_error"
    rows = []
    for duel in judged.duels:
        c = duel.comparison
        mean = Mean(c.difference, c.error, c.count)
        rows.append(
            (
                duel.data,
                duel.method,
                mean.text(2 if percent else 4, "+", 100.0 if percent else 1.0),
                str(c.count),
                f"{c.effect:+.2f}",
                f"{c.standardised:+.2f}" if c.standardised == c.standardised else "-",
                _p(c.p),
                _p(duel.p_holm),
                _p(c.p_corrected) if c.p_corrected == c.p_corrected else "-",
                _bold_unless_same(duel.verdict),
            )
        )
    unit = ", %" if percent else ""
    head = ("set", "method", f"difference{unit}", "n", "effect", "d", "p", "Holm", "corrected t")
    return Table((*head, "verdict"), rows)


def cost_table(findings: Findings) -> Table:
    """What a stage and a fit of each method cost, on average over the sets."""
    rows = []
    for method in findings.methods:
        costs = [findings.stage_cost(data, method) for data in findings.outcomes.sets]
        stages = [cost for cost in costs if cost is not None]
        if not stages:
            continue
        values = [c.kernel_values / 1000.0 for c in stages if c.kernel_values is not None]
        fits = [
            mean_of(findings.fit_seconds(data, method, size) for data in findings.outcomes.sets)
            for size in findings.sizes
        ]
        rows.append(
            (
                method,
                f"{1000.0 * fmean(cost.seconds for cost in stages):.3g}",
                f"{fmean(values):.3g}" if values else "-",
                *(f"{seconds:.3g}" if seconds is not None else "-" for seconds in fits),
            )
        )
    sizes = (f"fit of {size}, s" for size in findings.sizes)
    return Table(("method", "stage, ms", "kernel values, thousands", *sizes), rows)


def picks_table(findings: Findings) -> Table:
    """What each method picks, at the largest size."""
    rows = []
    for method in findings.methods:
        picked = findings.picked(method, findings.sizes[-1])
        if picked is not None:
            distance = f"{picked.distance:.2f}" if picked.distance is not None else "-"
            shares = picked.wrong, picked.wrong_rows
            texts = (f"{100.0 * share:.1f}" if share is not None else "-" for share in shares)
            rows.append((method, distance, *texts))
    return _without_empty(Table(("method", "distance", "wrong labels, %", "of all rows, %"), rows))


def agreement_table(findings: Findings) -> Table:
    """How alike the picks of two methods are, at the largest size; of many methods, beside those of
    the control alone."""
    pairs = findings.agreement(findings.sizes[-1])
    if len(findings.methods) > MANY:
        pairs = {pair: each for pair, each in pairs.items() if findings.plan.compared_with in pair}
    rows = [
        (first, second, f"{100.0 * shared:.1f}", f"{order:+.2f}" if order is not None else "-")
        for (first, second), (shared, order) in pairs.items()
    ]
    return _without_empty(Table(("method", "and", "picked by both, %", "order"), rows))


def _without_empty(table: Table) -> Table:
    """Without the columns in which nobody has anything."""
    kept = [i for i in range(len(table.header)) if any(row[i] != "-" for row in table.rows)]
    header = [table.header[i] for i in kept]
    return Table(header, [tuple(row[i] for i in kept) for row in table.rows])


def data_table(findings: Findings) -> Table:
    """The data sets, how large they are, and how many partitions there are of each."""
    first = {source.name: source for source in findings.plan.sources}
    rows = []
    for data in findings.outcomes.sets:
        sources, extent = findings.outcomes.sources(data), _extent(first[data], findings.plan.rows)
        rows.append((data, *extent, str(len(sources)), counted_kinds(sources)))
    head = ("set", "features", "training rows", "test rows", "partitions", "source")
    return Table(head, rows)


def _extent(source: Source, rows: int | None) -> tuple[str, str, str]:
    """Features, training rows and test rows of the first partition."""
    data = data_of(source, 0, rows)
    return str(data.X.shape[1]), str(len(data.X)), str(len(data.X_test))


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"
