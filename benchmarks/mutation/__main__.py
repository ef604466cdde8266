"""The command: draws a sample, runs it, says what is known."""

from __future__ import annotations

import argparse
import json
import math
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs

from benchmarks.mutation import __doc__ as about
from benchmarks.mutation import execution, swapping
from benchmarks.mutation.execution import Selection
from benchmarks.mutation.heart import GROUPS, ROOT, Group
from benchmarks.mutation.mutants import Mutant, mutants

STORE = ROOT / ".mutation"
REASONS = Path(__file__).parent / "survivors.toml"
EACH = 20
SECONDS = 120.0
"""How long the tests of a mutant may take: the quickest that fit are run."""


def sample(group: Group, size: int, seed: int = 0) -> list[Mutant]:
    """So many mutants of a part, drawn by chance; of two sizes, the smaller sample is part of the
    larger. Another seed is another sample."""
    every = (mutant for file in group.files() for mutant in mutants(*file))
    return sorted(every, key=lambda each: sha256(f"{seed} {each.name}".encode()).digest())[:size]


def reasons() -> dict[str, str]:
    """Why survivors make no difference, by their names."""
    table = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return {entry["mutant"]: entry["reason"] for entry in table.get("equivalent", [])}


class Results:
    """What was found, a line of a file each; the last word on a mutant counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[str, dict[str, Any]] = {}
        self.read()

    def read(self) -> None:
        """What the file says, to which other processes may have added."""
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry["mutant"]] = entry

    def add(self, name: str, outcome: execution.Outcome) -> None:
        entry = {
            "mutant": name,
            "caught": outcome.caught,
            "by": outcome.by,
            "seconds": round(outcome.seconds, 2),
        }
        self.known[name] = entry
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def run(groups: list[Group], options: argparse.Namespace, results: Results) -> None:
    """Judge what has not been judged; with ``again`` those, too, that survived without a reason."""
    execution.prepare()

    def tell(mutant: Mutant, outcome: execution.Outcome) -> None:
        results.add(mutant.name, outcome)
        if not outcome.caught:
            where = mutant.path.relative_to(ROOT)
            print(f"  survived: {mutant.name}  [{where}:{mutant.line}]", flush=True)

    for group, wanted in _wanted(groups, options, results):
        print(f"{group.name}: {len(wanted)} mutants", flush=True)
        selection = Selection(group.tests, group.compiled, options.seconds)
        course = swapping.judge(selection, wanted, tell)
        results.read()
        for mutant in wanted:
            tests = tuple(course.tests_of(mutant))
            if not (mutant.function and tests):  # what importing does
                every = tests or tuple(course.durations)
                tell(mutant, execution.run(attrs.evolve(selection, order=every), mutant))


def _wanted(
    groups: list[Group], options: argparse.Namespace, results: Results
) -> Iterator[tuple[Group, list[Mutant]]]:
    excused = reasons()
    for group in groups:
        wanted = []
        for mutant in sample(group, options.each, options.seed):
            known = results.known.get(mutant.name)
            survivor = known is not None and not known["caught"] and mutant.name not in excused
            if known is None or (options.again and survivor):
                wanted.append(mutant)
        if wanted:
            yield group, wanted


@attrs.frozen
class Count:
    """What is known of the mutants of a part of the heart."""

    every: int
    tried: int
    caught: int
    excused: int

    @classmethod
    def of(cls, group: Group, results: Results, excused: dict[str, str]) -> tuple[Count, list[str]]:
        """The count, and the survivors that nobody has given a reason for."""
        names = [mutant.name for file in group.files() for mutant in mutants(*file)]
        tried = [name for name in names if name in results.known]
        survived = [name for name in tried if not results.known[name]["caught"]]
        left = [name for name in survived if name not in excused]
        excuses = len(survived) - len(left)
        return cls(len(names), len(tried), len(tried) - len(survived), excuses), left

    @property
    def judged(self) -> int:
        """How many of those tried change behaviour."""
        return self.tried - self.excused

    def row(self, name: str) -> str:
        """A row of the table."""
        share = f"{self.caught / self.judged:.0%}" if self.judged else ""
        left = self.judged - self.caught
        numbers = (self.every, self.tried, self.caught, self.excused, left)
        return "| " + " | ".join([name, *map(str, numbers), share]) + " |"


def report(groups: list[Group], results: Results) -> None:
    """The table, the share caught of all, and the survivors without a reason."""
    excused = reasons()
    print("| part | mutants | tried | caught | no difference | survived | share caught |")
    print("|---|---|---|---|---|---|---|")
    counts, left = [], []
    for group in groups:
        count, survivors = Count.of(group, results, excused)
        counts.append(count)
        left += survivors
        print(count.row(group.name))
    sums = (sum(attrs.astuple(each)[i] for each in counts) for i in range(4))
    print(Count(*sums).row("**all**"))
    if not any(each.judged for each in counts):
        return
    share, low, high = estimate(counts)
    print(
        f"\nOf all mutants that change behaviour {share:.1%} are caught ({low:.1%} to {high:.1%})."
    )
    for name in left:
        print(f"survived: {name}")


def estimate(counts: list[Count]) -> tuple[float, float, float]:
    """The share caught of all mutants that change behaviour, and an interval of 95 %.

    Parts were sampled more or less densely: each counts by how many mutants it has. The variance
    of a share is that of two more caught and two more not (Agresti and Coull, 1998).
    """
    known = [each for each in counts if each.judged]
    size = [each.every * each.judged / each.tried for each in known]
    share = sum(n * each.caught / each.judged for n, each in zip(size, known, strict=True))
    share /= sum(size)
    variance = 0.0
    for n, each in zip(size, known, strict=True):
        p = (each.caught + 2) / (each.judged + 4)
        variance += (n / sum(size)) ** 2 * p * (1 - p) / (each.judged + 4)
    half = 1.96 * math.sqrt(variance)
    return share, max(0.0, share - half), min(1.0, share + half)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutation",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--each", type=int, default=EACH, help="mutants of every part of the heart")
    parser.add_argument("--seed", type=int, default=0, help="another one: another sample")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests for a mutant")
    parser.add_argument("--group", action="append", help="only these parts of the heart")
    parser.add_argument("--again", action="store_true", help="survivors without a reason as well")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    groups = [group for group in GROUPS if options.group is None or group.name in options.group]
    results = Results(STORE / f"sample-{options.seed}.jsonl")
    if not options.report:
        run(groups, options, results)
    report(groups, results)


if __name__ == "__main__":
    main()
