"""Fuzz every reader: ``python tests/fuzz/run.py --minutes 30``.

Coverage leads the way where atheris is installed (``pip install atheris``); where it cannot be,
files of the corpus are changed at random, which finds less. What is found stands in ``found/``; put
it, shortened, into ``corpus/TARGET/``, where the tests read it for ever, and mend the reader.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
INSTRUMENTED = ["sgpc_framework", "tomllib", "json", "csv", "zipfile", "gzip"]
LONGEST = 16_384
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where files need no disk."""


def main() -> int:
    """All targets, each in a process of its own; 1 if one of them found something."""
    options = _options()
    sys.path.insert(0, str(HERE))
    if options.seeds:
        return _write_seeds()
    if options.target:
        _fuzz_one(options.target, options)
        return 0
    seconds = options.minutes * 60.0 if options.minutes else options.seconds
    names = options.names or sorted(path.name for path in CORPUS.iterdir())
    if find_spec("atheris") is None:
        print("atheris is not installed: files are changed at random, without coverage")
    each = max(1, round(seconds * options.jobs / len(names)))
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda name: _in_process(name, each, options), names)
        return int(not all(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="targets; all if none is named")
    parser.add_argument("--minutes", type=float, help="for all targets together")
    parser.add_argument("--seconds", type=float, default=60.0, help="the same in seconds")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--seed", type=int, default=0, help="of chance; 0: another one each time")
    parser.add_argument("--found", type=Path, default=Path("found"), help="folder for finds")
    parser.add_argument("--seeds", action="store_true", help="write the corpus anew and end")
    parser.add_argument("--target", help=argparse.SUPPRESS)  # a process of one target
    return parser.parse_args()


def _in_process(name: str, seconds: int, options: argparse.Namespace) -> bool:
    command = [sys.executable, __file__, "--target", name, "--seconds", str(seconds)]
    command += ["--found", str(options.found), "--seed", str(options.seed)]
    began = time.monotonic()
    plain = {**os.environ, "SGPC_FAST": "0"}  # a compiler takes time and memory of its own
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:  # what an ended process leaves
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=2 * seconds + 300,
                env={**plain, "TMPDIR": scratch},
            )
            code, output = ran.returncode, ran.stderr + ran.stdout
        except subprocess.TimeoutExpired as error:
            code, output = 1, f"{error}"
    took = time.monotonic() - began
    runs = [line for line in output.splitlines() if line.startswith(("Done ", "#"))]
    print(
        f"{name:16} {'sound' if code == 0 else 'FOUND'} {took:4.0f} s  {(runs or [''])[-1]}",
        flush=True,
    )
    if code:
        told = [line for line in output.splitlines() if not line.startswith("INFO: ")]
        print("\n".join(told[-40:]), flush=True)
    return code == 0


def _write_seeds() -> int:
    from targets import seeds

    for name, files in seeds().items():
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        for title, content in files.items():
            (CORPUS / name / title).write_bytes(content)
    return 0


def _fuzz_one(name: str, options: argparse.Namespace) -> None:
    options.found.mkdir(parents=True, exist_ok=True)
    if find_spec("atheris") is None:
        return _at_random(name, options.seconds, options.found, options.seed)
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        from targets import judged, warm_up
    for path in sorted((CORPUS / name).iterdir()):
        warm_up(name, path.read_bytes())
    with tempfile.TemporaryDirectory() as grown, tempfile.NamedTemporaryFile("w") as words:
        words.write("\n".join(f'"{word}"' for word in _words(name)))
        words.flush()
        arguments = [
            sys.argv[0],
            f"-dict={words.name}",
            f"-max_total_time={options.seconds:.0f}",
            f"-seed={options.seed}",
            f"-max_len={LONGEST}",
            "-timeout=60",
            "-rss_limit_mb=3000",
            "-print_final_stats=1",
            f"-artifact_prefix={options.found}/{name}-",
            grown,
            str(CORPUS / name),
        ]
        atheris.Setup(arguments, lambda data: judged(name, data) and None)
        atheris.Fuzz()
    return None


def _words(name: str) -> list[str]:
    """What a file of this kind may say: the words of the corpus, the names of parts, and PIECES."""
    from sgpc_framework.plugin.registry import default_registry

    texts = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    said = {word for text in texts for word in re.findall(rb"[A-Za-z][\w-]{2,30}", text)}
    parts = {part.name.encode() for part in default_registry().parts()}
    return ["".join(f"\\x{byte:02x}" for byte in word) for word in sorted({*said, *parts, *PIECES})]


def _at_random(name: str, seconds: float, found: Path, seed: int) -> None:
    from targets import judged, warm_up

    corpus = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    for content in corpus:
        warm_up(name, content)
    rng, ends, runs = Random(seed or None), time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        data = changed(rng, rng.choice(corpus), rng.choice(corpus))
        try:
            judged(name, data)
        except BaseException:
            (found / f"{name}-{rng.getrandbits(32):08x}").write_bytes(data)
            raise
        runs += 1
    print(f"Done {runs} runs")


def changed(rng: Random, data: bytes, other: bytes) -> bytes:
    """A file with a few bytes flipped, cut, doubled, or taken from another one."""
    result = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at, length = rng.randrange(len(result) + 1), rng.choice((1, 1, 2, 4, 16, 256))
        match rng.randrange(5):
            case 0:
                result[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del result[at : at + length]
            case 2:
                result[at:at] = result[at : at + length] * rng.randint(1, 3)
            case 3:
                begin = rng.randrange(len(other) + 1)
                result[at : at + length] = other[begin : begin + length]
            case _:
                result[at : at + length] = rng.choice(PIECES)
    return bytes(result[:LONGEST])


PIECES = (
    b"0",
    b"-1",
    b"9" * 30,
    b"1e999",
    b"nan",
    b'"',
    b"\n",
    b"\x00",
    b"\xff\xff\xff\x7f",
    b"[",
    b"{",
)


if __name__ == "__main__":
    sys.exit(main())
