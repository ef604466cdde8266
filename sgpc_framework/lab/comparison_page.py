"""The page of a comparison: the verdict first, then everything that it rests on."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from sgpc_framework.config.config import Config
from sgpc_framework.lab.comparison_figures import draw_figures
from sgpc_framework.lab.comparison_tables import (
    agreement_table,
    cost_table,
    data_table,
    duel_table,
    floor_table,
    friedman_table,
    mean_table,
    picks_table,
    verdict_table,
)
from sgpc_framework.lab.findings import Findings
from sgpc_framework.lab.judgement import Judgement
from sgpc_framework.lab.pages import (
    Block,
    Heading,
    Items,
    Listing,
    Picture,
    Table,
    Text,
    write_html,
    write_markdown,
)
from sgpc_framework.lab.results import MEASURES, SHORT
from sgpc_framework.metrics.statistics import LEVEL
from sgpc_framework.plugin.kinds import KINDS

MOST_PROBLEMS = 20
VERDICTS = ("better", "worse")


def write_pages(folder: Path, findings: Findings, command: str = "") -> tuple[Path, Path]:
    """Draw the pictures, and write ``comparison.html`` and ``comparison.md``."""
    figures = draw_figures(folder / "figures", findings)
    title = f"{findings.plan.compared_with} and {len(findings.methods) - 1} others, compared"
    blocks = [block for block in _blocks(findings, figures, command) if _has_content(block)]
    html = write_html(folder / "comparison.html", title, blocks)
    return html, write_markdown(folder / "comparison.md", title, blocks)


def _has_content(block: Block) -> bool:
    return not isinstance(block, Table) or bool(block.rows)


def _blocks(findings: Findings, figures: Mapping[str, Path], command: str) -> Iterator[Block]:
    yield from _introduction(findings, command)
    yield from _verdict(findings)
    yield from _over_sets(findings, figures)
    yield from _means(findings, figures)
    yield from _pairs(findings)
    yield from _costs(findings, figures)
    yield from _picks(findings)
    yield from _what_was_done(findings)


def _introduction(findings: Findings, command: str) -> Iterator[Block]:
    outcomes, wanted = findings.outcomes.outcomes, len(findings.wanted)
    own = [outcome for cell, outcome in outcomes.items() if cell in findings.wanted]
    done, seconds = len(own), sum(outcome.cpu_seconds for outcome in own)
    given = (
        f" {len(outcomes) - done} more fits, of {len(findings.known)} methods, were known."
        if findings.known
        else ""
    )
    yield Text(
        f"{len(findings.methods)} methods on {len(findings.outcomes.sets)} data sets: {done} of "
        f"{wanted} fits, {seconds:.0f} s of processor time.{given}"
    )
    if command:
        yield Listing(command, "console")
    yield Text(
        f"The others are compared with **{findings.plan.compared_with}**, the control, on the same "
        "partitions. Error is the share of test rows whose label is predicted wrongly; NLP (log "
        "loss) is the mean of -log p(true label) over the test rows, in nats. Of both, lower is "
        "better."
    )
    if done < wanted:
        yield Text(
            f"**{wanted - done} fits are missing**: what follows is of those partitions "
            "that the methods compared have finished."
        )


def _verdict(findings: Findings) -> Iterator[Block]:
    control = findings.plan.compared_with
    yield Heading("Verdict")
    yield Items((*_sentences(findings), *_doubtful(findings), *_short_fits(findings)))
    yield Text(
        f"Each method beside **{control}**: on how many data sets it is significantly better, the "
        "same, and worse (Wilcoxon's test over the partitions, Holm's correction over the methods "
        "of a set, 0.05); on how many sets its mean is lower (better), equal, and higher; and its "
        "standing over all sets (Friedman's test, then Bonferroni and Dunn, 0.05). Same says that "
        "no difference could be shown, not that there is none. Sizes and the two measures are "
        "tested each by itself."
    )
    yield verdict_table(findings)


def _sentences(findings: Findings) -> Iterator[str]:
    """What can be said of each size and measure, set by set and over the sets, and what cannot."""
    for judged in findings.judgements:
        about = f"Test {SHORT[judged.measure]}, {judged.size} basis vectors"
        tallies = {m: judged.tally(m) for m in judged.methods if m != judged.control}
        if any(tally.total for tally in tallies.values()):
            ahead = {m: t.better for m, t in tallies.items() if t.better > t.worse}
            behind = {m: t.worse for m, t in tallies.items() if t.worse > t.better}
            yield (
                f"{about}, set by set beside {judged.control}. Significantly better on more sets "
                f"than worse: {_listed(ahead)}. Worse on more: {_listed(behind)}."
            )
        yield f"{about}, all sets together: {_over_all(judged)}."
    duels = [duel for judged in findings.judgements for duel in judged.duels]
    untold = sum(duel.verdict == "too few" for duel in duels)
    if untold:
        yield (
            f"{untold} of {len(duels)} pairs have too few partitions for Wilcoxon's test, with "
            "Holm's correction, to tell anything at 0.05: six are enough for one rival, eight for "
            "six, ten for twenty."
        )


def _listed(counts: Mapping[str, int]) -> str:
    """Methods, and on how many sets each, the most first."""
    most_first = sorted(counts.items(), key=lambda each: -each[1])
    return "; ".join(f"{method} (on {count})" for method, count in most_first) or "none"


def _over_all(judged: Judgement) -> str:
    """What ranks say of all sets."""
    if judged.friedman is None:
        return "one data set alone says nothing"
    ranks, p = judged.friedman.ranks, judged.friedman.p_iman_davenport
    if not judged.different:
        return f"Friedman's test sees no difference on {judged.friedman.sets} sets (p = {p:.2g})"
    apart = {word: [m for m in ranks if judged.over_sets(m) == word] for word in VERDICTS}
    told = [f"{word} than {judged.control}: {'; '.join(m)}" for word, m in apart.items() if m]
    best = judged.friedman.in_order[0][0]
    return (
        f"{' and '.join(told) or f'no method can be told from {judged.control}'} (mean ranks must "
        f"be {judged.reach:.2f} apart; the best is {ranks[best]:.2f}, {best}, and that of "
        f"{judged.control} {ranks[judged.control]:.2f})"
    )


def _doubtful(findings: Findings) -> Iterator[str]:
    """How many verdicts rest on partitions of shared rows, and not on the test that allows for
    that."""
    duels = [duel for judged in findings.judgements for duel in judged.duels]
    told = [duel for duel in duels if duel.verdict in ("better", "worse")]
    doubtful = [duel for duel in told if duel.comparison.p_corrected >= LEVEL]
    if doubtful:
        sets = dict.fromkeys(duel.data for duel in doubtful)
        where = f": on {'; '.join(sets)}" if len(sets) < len(findings.outcomes.sets) else ""
        yield (
            f"Of the {len(told)} significant differences in pairs {len(doubtful)} may come of "
            "partitions that share rows: the t-test that allows for them (the last p of the tables "
            f"in pairs) does not confirm them, even without a correction for their number{where}."
        )


def _short_fits(findings: Findings) -> Iterator[str]:
    """Which methods ended with fewer basis vectors than they were given room for."""
    for method in findings.methods:
        fits = {c: o for c, o in findings.outcomes.outcomes.items() if c.method == method}
        short = sum(outcome.basis < cell.size for cell, outcome in fits.items())
        if short:
            least = min(outcome.basis for outcome in fits.values())
            yield (
                f"{method}: {short} of {len(fits)} fits ended with fewer basis vectors than there "
                f"was room for, the least with {least}: its selector had enough (pool ends when no "
                "candidate lowers the log loss), or no row had any variance left. It is compared "
                "with the fewer that it has."
            )


def _over_sets(findings: Findings, figures: Mapping[str, Path]) -> Iterator[Block]:
    table = friedman_table(findings)
    if table.rows:
        yield Heading("Over the data sets")
        yield Text(
            "Mean ranks by the means over the partitions that all methods have; 1 is the best. p "
            "is that of Friedman's test with Iman and Davenport's correction. A star: beyond the "
            "critical difference of Bonferroni and Dunn at 0.05 from "
            f"{findings.plan.compared_with}. In the diagrams the upper (red) bar is that "
            "difference, and a blue line joins methods that Nemenyi's test cannot tell apart."
        )
        yield table
        yield from _picture(figures, "ranks", "Critical-difference diagrams")


def _means(findings: Findings, figures: Mapping[str, Path]) -> Iterator[Block]:
    yield Heading("Set by set")
    yield Text(
        "Mean ± standard error over the partitions that all methods of a line have (n of them), "
        "the least, which is the best, in bold; size is the number of basis vectors."
    )
    for measure in MEASURES:
        unit = " in percent" if measure == "test_error" else " (log loss) in nats"
        yield Heading(f"Test {SHORT[measure]}{unit}", 3)
        yield mean_table(findings, measure)
        short = SHORT[measure].lower()
        yield from _picture(figures, f"sizes {short}", f"Test {SHORT[measure]} over the size")
    floors = floor_table(findings)
    if floors.rows:
        yield Text("No classifier does better, on average, than:")
        yield floors


def _pairs(findings: Findings) -> Iterator[Block]:
    yield Heading(f"In pairs with {findings.plan.compared_with}")
    yield Text(
        "The difference is the method's less the control's on the same partitions: below zero the "
        "method is better. Effect is the rank-biserial correlation, from -1 (lower on every "
        "partition) to +1; d is the mean difference in deviations of the differences. p is "
        "Wilcoxon's, then with Holm's correction. Where all partitions divide the same rows they "
        "are not independent, and Wilcoxon's p is too small: the last p is that of a t-test with "
        "Nadeau and Bengio's variance."
    )
    for judged in findings.judgements:
        yield Heading(f"Test {SHORT[judged.measure]}, {judged.size} basis vectors", 3)
        yield duel_table(judged)


def _costs(findings: Findings, figures: Mapping[str, Path]) -> Iterator[Block]:
    table = cost_table(findings)
    if table.rows:
        yield Heading("Quality against cost")
        yield Text(
            f"A stage is one of {findings.sizes[-1]} in an inner loop on the first partition: the "
            "median of some turns, in one process with nothing of this run beside it; and how many "
            "values of the kernel it asks for, in thousands, which is the same on any machine. A "
            "fit has all outer iterations with step 6 and refining; its seconds are of the "
            "processor, beside other fits. Means over the data sets. In the pictures, below and to "
            "the left is best."
        )
        yield table
        for measure in reversed(MEASURES):
            short = SHORT[measure].lower()
            cost = "milliseconds of a stage" if findings.known else "processor seconds of a fit"
            caption = f"Test {SHORT[measure]} over the {cost}"
            yield from _picture(figures, f"cost {short}", caption)


def _picks(findings: Findings) -> Iterator[Block]:
    table = picks_table(findings)
    if table.rows:
        yield Heading("What is picked")
        yield Text(
            "The rows that the stages of the returned models included, means over partitions and "
            f"sets with {findings.sizes[-1]} basis vectors. Distance is that of a test row to the "
            "nearest pick, relative to as many rows at random: below 1 the picks cover the data "
            "better than chance. Wrong labels are those that the best classifier would not give, "
            "known for generated sets only; beside them, their share among all rows."
        )
        yield table
        pairs = agreement_table(findings)
        if pairs.rows:
            yield Text(
                "How many rows two methods pick both, of all that they pick (by chance it would be "
                f"{100.0 * findings.chance_overlap(findings.sizes[-1]):.1f} %), and Kendall's τ of "
                "the order in which they come (1: the same, 0: unrelated, -: hardly any row is "
                "picked by both)."
            )
            yield pairs


def _what_was_done(findings: Findings) -> Iterator[Block]:
    yield Heading("What was done")
    yield data_table(findings)
    plan = findings.plan
    yield Items(f"**{method.name}**: `{method.text}`" for method in plan.computed)
    if findings.known:
        yield Text(
            f"Given, not computed: outcomes of {'; '.join(findings.known)}, on partitions with the "
            "same rows. They may come from another version and another machine, so the seconds of "
            "these fits are left out."
        )
    yield Text(f"What a method does not say is the default: {_defaults()}.")
    limits = {cell.size: cell.iterations for cell in findings.outcomes.outcomes}
    rounds = ", ".join(f"{limits[size]} with {size} basis vectors" for size in sorted(limits))
    yield Text(
        f"Outer iterations at most: {rounds}, unless a method says its own. The seed of a fit is "
        "its partition's number. "
        f"sgpc-framework {version('sgpc-framework')}, Python {platform.python_version()}, NumPy "
        f"{version('numpy')}, {platform.machine()}."
    )
    if findings.problems:
        shown = list(findings.problems.items())[:MOST_PROBLEMS]
        yield Heading("What failed", 3)
        yield Items(f"{job}: {' '.join(why.split())}" for job, why in shown)
        if len(findings.problems) > MOST_PROBLEMS:
            yield Text(f"and {len(findings.problems) - MOST_PROBLEMS} more.")
    yield Heading("Files", 3)
    yield Items(
        (
            "`results.csv`: one fit a row; with `--against` another comparison can use it",
            "`judgement.csv`: one pair of a method and the control a row",
            "`cells`: every finished fit, from which the same command goes on",
        )
    )


def _defaults() -> str:
    config = Config.from_mapping()
    return ", ".join(f"{slot} {getattr(config, slot).name}" for slot in KINDS)


def _picture(figures: Mapping[str, Path], name: str, caption: str) -> Iterator[Block]:
    if name in figures:
        yield Picture(figures[name], caption)
