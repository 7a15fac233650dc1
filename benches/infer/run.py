#!/usr/bin/env python3
"""Times the inference methods against plain GNU Octave versions of the published algorithms, in one run on one thread.

    python3 benches/infer/run.py            everything
    python3 benches/infer/run.py --quick    shorter chains, two repetitions
    python3 benches/infer/run.py --only steps

Needs octave-cli with OpenBLAS. Builds the Rust binary, simulates releases that both sides read, takes turns between the
contestants and prints Markdown tables. All times are CPU seconds of the process. Posterior means and sds of both sides are
compared, not only times.
"""

import argparse
import math
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAIRS = {"normal-x": "normal_x", "fixed-gram": "fixed_s", "gibbs-dense": "bernstein_sheldon"}
# Ours: chains, warm-up and draws. The published algorithms take 10,000 steps, the first half warm-up, as their authors do.
DEFAULT_PLAN = (4, 1000, 1000)
LONG_PLAN = (4, 2000, 10_000)
EFFECTIVE = [
    ("fixed_s", 2, 1, {"quadrature": (1, 0, 5000), "fixed-gram": LONG_PLAN}),
    ("fixed_s", 5, 1, {"quadrature": (1, 0, 5000), "fixed-gram": LONG_PLAN}),
    ("fixed_s", 5, 10, {"quadrature": (1, 0, 5000), "fixed-gram": LONG_PLAN}),
    ("fixed_s", 10, 10, {"quadrature": (1, 0, 5000), "fixed-gram": LONG_PLAN}),
    ("normal_x", 5, 1, {"normal-x-nuts": DEFAULT_PLAN, "normal-x": LONG_PLAN}),
    ("normal_x", 5, 10, {"normal-x-nuts": DEFAULT_PLAN, "normal-x": LONG_PLAN}),
    ("bernstein_sheldon", 5, 10, {"marginal": DEFAULT_PLAN, "gibbs": LONG_PLAN, "gibbs-dense": LONG_PLAN}),
    ("bernstein_sheldon", 10, 1, {"marginal": DEFAULT_PLAN, "gibbs": LONG_PLAN}),
    ("bernstein_sheldon", 10, 10, {"marginal": DEFAULT_PLAN, "gibbs": LONG_PLAN}),
]
SAMPLERS = ["quadrature", "fixed-gram", "normal-x", "gibbs", "gibbs-dense"]
DENSITIES = ["normal-x-nuts", "marginal"]


class Contestant:
    """A process that answers one request per line with CPU seconds and more numbers."""

    def __init__(self, command, end="\n"):
        self.end = end
        environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + self.end)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a contestant stopped at the request: {words}")
        return [float(word) for word in line.split()]


class Report:
    """What draws are worth: CPU seconds, smallest effective size, and moments of the coefficients."""

    def __init__(self, numbers, seconds=None):
        self.seconds = numbers[0] if seconds is None else seconds
        self.effective, self.r_hat, self.gradients, self.divergences = numbers[1:5]
        self.moments = [numbers[k : k + 4] for k in range(5, len(numbers), 4)]

    def seconds_per_draw(self):
        return self.seconds / self.effective


def build():
    root = HERE.parent.parent
    command = ["cargo", "build", "--release", "-p", "organza-bench-infer"]
    subprocess.run(command, cwd=root, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    return target / "release" / "bench-infer"


class Bench:
    def __init__(self, arguments, folder):
        self.folder, self.repetitions = folder, arguments.repetitions
        self.quick, self.target = arguments.quick, arguments.target
        self.ours = Contestant([build()])
        # Octave reads one character beyond a line before it returns it, hence the empty line.
        command = ["octave-cli", "--no-init-file", "-q", HERE / "baseline" / "serve.m"]
        self.octave = Contestant(command, end="\n\n")

    def load(self, features, parties, records, sizes="unequal"):
        path = self.folder / f"{features}-{parties}-{records}-{sizes}.txt"
        self.ours.ask("simulate", features, parties, records, sizes, path)
        self.ours.ask("load", path)
        return path

    # Per step, the same algorithm.

    def steps(self):
        print("\n| algorithm | d | J | Octave, us | ours, us | faster by |\n| --- | --- | --- | --- | --- | --- |")
        for ours, theirs in PAIRS.items():
            for parties in (1, 10):
                for features in (2, 5, 10):
                    self.compare_steps(ours, theirs, features, parties)
        for features in (2, 5, 10):
            self.compare_steps("gibbs-dense", "bernstein_sheldon", features, 10, "equal")

    def compare_steps(self, ours, theirs, features, parties, sizes="unequal"):
        path = self.load(features, parties, 10_000, sizes)
        slow_count = (500 if self.quick else 2000) // (parties if theirs == "normal_x" else 1)
        fast_count = self.count(lambda count: self.ours.ask("steps", ours, 1000, count)[0], 0.3)
        slow, fast = [], []
        for _ in range(self.repetitions):
            slow.append(1e6 * self.octave.ask(theirs, path, slow_count, 1)[0] / slow_count)
            fast.append(1e6 * self.ours.ask("steps", ours, 1000, fast_count)[0] / fast_count)
        parties = f"{parties}, equal" if sizes == "equal" else parties
        row = [f"{theirs} / {ours}", features, parties, pair(slow), pair(fast), ratio(slow, fast)]
        print_row(row)

    def count(self, seconds, wanted):
        """How many repetitions take about as many CPU seconds as wanted."""
        count = 1
        while (found := seconds(count)) < 0.1 * wanted:
            count *= 4
        return max(1, int(count * wanted / found))

    # Per effective draw of the coefficients.

    def effective(self):
        print("\n| target | d | J | who | CPU s | ESS | R-hat | ms per effective draw | faster by | z mean | z sd |")
        print("| --- " * 11 + "|")
        for theirs, features, parties, rivals in EFFECTIVE:
            if self.target in (None, theirs):
                self.compare_effective(theirs, features, parties, rivals)

    def compare_effective(self, theirs, features, parties, rivals):
        path = self.load(features, parties, 10_000)
        steps = 2000 if self.quick else 10_000
        reports = {"octave": [], **{name: [] for name in rivals}}
        for seed in range(1, self.repetitions + 1):
            file = self.folder / "draws.bin"
            seconds = self.octave.ask(theirs, path, steps, seed, file)[0]
            reports["octave"].append(Report(self.ours.ask("diagnose", file), seconds))
            for name, (chains, warmup, draws) in rivals.items():
                reports[name].append(Report(self.ours.ask("run", name, chains, warmup, draws, seed)))
        slow = [report.seconds_per_draw() for report in reports["octave"]]
        for name, found in reports.items():
            fast = [report.seconds_per_draw() for report in found]
            row = [theirs, features, parties, name]
            row += [f"{statistics.median(report.seconds for report in found):.3g}"]
            row += [f"{statistics.median(report.effective for report in found):.0f}"]
            row += [f"{max(report.r_hat for report in found):.3f}"]
            row += [pair([1e3 * value for value in fast])]
            row += ["", "", ""] if name == "octave" else [ratio(slow, fast), *scores(reports["octave"], found)]
            print_row(row)

    def large(self):
        """`marginal` where the published algorithm cannot go."""
        print("\n| d | steps | CPU s | ESS | R-hat | gradients per draw | divergences |\n" + "| --- " * 7 + "|")
        cases = [(20, 500, 500)] if self.quick else [(20, 500, 500), (50, 500, 500), (100, 150, 200)]
        for features, warmup, draws in cases:
            self.load(features, 10, 10_000)
            report = Report(self.ours.ask("run", "marginal", 1, warmup, draws, 1))
            row = [features, f"{warmup} + {draws}", f"{report.seconds:.3g}", f"{report.effective:.0f}"]
            row += [f"{report.r_hat:.3f}", f"{report.gradients / draws:.1f}", f"{report.divergences:.0f}"]
            print_row(row)

    # Growth with d, J and n.

    def growth(self):
        dimensions = (2, 5, 10, 20) if self.quick else (2, 5, 10, 20, 50, 100)
        cases = [(d, j, 100_000) for j in (1, 10, 100) for d in dimensions if j * d**3 <= 10 * 100**3]
        cases += [(5, 10, 1000), (5, 10, 1_000_000)]
        print("\n| d | J | n | prepare |", " | ".join(SAMPLERS + DENSITIES), "|\n" + "| --- " * 11 + "|")
        for features, parties, records in cases:
            self.grow(features, parties, records)

    def grow(self, features, parties, records):
        self.load(features, parties, records)
        row = [features, parties, records, self.cost(lambda count: self.prepare(count))]
        for name in SAMPLERS:
            dense = name == "gibbs-dense" and parties * features**6 > 10 * 50**6
            timer = lambda count: self.ours.ask("steps", name, min(count, 200), count)[0]
            row.append("left out" if dense else self.cost(timer))
        row += [self.cost(lambda count: self.ours.ask("gradients", name, count)[0]) for name in DENSITIES]
        print_row(row)

    def prepare(self, count):
        return sum(self.ours.ask("prepare")[0] for _ in range(count))

    def cost(self, seconds):
        """Microseconds; what takes seconds is measured twice only."""
        count = self.count(seconds, 0.05 if self.quick else 0.2)
        first = seconds(count)
        repetitions = self.repetitions if first < 2.0 else 2
        return pair([1e6 * time / count for time in [first] + [seconds(count) for _ in range(repetitions - 1)]])


def pair(values):
    return f"{min(values):.3g} / {statistics.median(values):.3g}"


def ratio(slow, fast):
    return f"{min(slow) / min(fast):.3g} / {statistics.median(slow) / statistics.median(fast):.3g}"


def scores(one, other):
    """Largest z-scores of the differences of posterior means and of sds, over the coefficients."""
    found = []
    for value, error in ((0, 2), (1, 3)):
        pooled = [moments(reports, value, error) for reports in (one, other)]
        scores = [(a - b) / math.hypot(s, t) for (a, s), (b, t) in zip(*pooled)]
        found.append(f"{max(map(abs, scores)):.1f}")
    return found


def moments(reports, value, error):
    """Mean over repetitions and its standard error, coefficient by coefficient."""
    count = len(reports)
    columns = zip(*(report.moments for report in reports))
    return [
        (sum(m[value] for m in column) / count, math.sqrt(sum(m[error] ** 2 for m in column)) / count)
        for column in columns
    ]


def print_row(cells):
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["steps", "effective", "large", "growth"])
    parser.add_argument("--target", choices=["fixed_s", "normal_x", "bernstein_sheldon"])
    parser.add_argument("--repetitions", type=int)
    arguments = parser.parse_args()
    arguments.repetitions = arguments.repetitions or (2 if arguments.quick else 5)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, Path(folder))
        for part in [arguments.only] if arguments.only else ["steps", "effective", "large", "growth"]:
            getattr(bench, part)()


if __name__ == "__main__":
    main()
