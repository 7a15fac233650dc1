#!/usr/bin/env python3
"""Times the private chains against the same algorithms in JAX and NumPy, and the pass under them against the limits of the machine.

    python3 benches/chains/run.py            everything, about 10 minutes
    python3 benches/chains/run.py --quick    fewer steps and repetitions
    python3 benches/chains/run.py --only pass parts

Makes a virtual environment and the records in a temporary folder (or in --folder, kept), builds the Rust binary, takes turns between all contestants
and prints Markdown tables. CPU seconds beside wall seconds, because the machine may be busy; the best of all repetitions, of each clock by itself.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["jax[cpu]", "numpy"]
ROWS = 100_000
METHODS = ["dp-penalty", "dp-hmc", "dp-sgld", "dp-sgnht"]
# Iterations of all four chains per CPU second of the authors' code on a current JAX, measured on another machine: not in this run.
AUTHORS = {"banana": [36, 1.9, 14, 14], "gauss": [6.2, 0.32, 11, 11]}
# Steps of a chain in one timing: ours, JAX, NumPy.
STEPS = {"dp-penalty": (600, 40, 10), "dp-hmc": (40, 3, 1), "dp-sgld": (2000, 100, 50), "dp-sgnht": (2000, 100, 50)}
DATA = """
import numpy, sys
rows, folder = int(sys.argv[1]), sys.argv[2]
rng = numpy.random.default_rng(7)
banana = numpy.array([[0.0], [3.0]]) + rng.standard_normal((2, rows)) / numpy.sqrt([[5e-4], [4e-4]])
banana.tofile(folder + "/banana")
basis, _ = numpy.linalg.qr(rng.random((10, 10)))
covariance = basis @ numpy.diag(numpy.maximum(rng.gamma(0.5, 1.0, 10), 0.01)) @ basis.T
gauss = numpy.linalg.cholesky(covariance) @ rng.standard_normal((10, rows))
numpy.concatenate([covariance.ravel(), gauss.ravel()]).tofile(folder + "/gauss")
"""


class Contestant:
    """A process that answers one request per line with wall seconds, CPU seconds and words."""

    def __init__(self, command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a contestant stopped at the request: {request}")
        wall, cpu, *answer = line.split()
        return float(wall), float(cpu), answer

    def best(self, request, repetitions):
        answers = [self.ask(request) for _ in range(repetitions)]
        return min(a[0] for a in answers), min(a[1] for a in answers), answers[-1][2]


def table(title, head):
    print(f"\n### {title}\n\n| " + " | ".join(head) + " |\n|" + " --- |" * len(head), flush=True)


def row(*cells):
    print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:,.3g}" for cell in cells) + " |", flush=True)


def same_gradient(contestants, problem, clip):
    """All sides add up the same clipped gradients, but for our noise of one clip bound."""
    answers = {name: [float(x) for x in one.ask(f"gradient {clip}")[2]] for name, one in contestants.items()}
    for name, answer in answers.items():
        far = max(abs(a - b) for a, b in zip(answer, answers["ours"]))
        if far > 7 * clip or max(map(abs, answer)) < 1000 * clip:
            raise SystemExit(f"gradients of {problem} differ: {name} {answer}, ours {answers['ours']}")


def chain_table(contestants, folder, options):
    table(f"Iterations of four chains per second, n = {ROWS:,}", ["problem", "method", "ours, 2 threads: per s", "per CPU s", "JAX per s", "per CPU s",
        "NumPy per s", "per CPU s", "faster than JAX: wall, CPU", "than NumPy", "authors' code per CPU s, elsewhere", "acceptance: ours, JAX"])
    for problem, clip in (("banana", 0.2), ("gauss", 10.0)):
        for contestant in contestants.values():
            contestant.ask(f"load {problem} {ROWS} {folder / problem}")
        same_gradient(contestants, problem, clip)
        for method, authors in zip(METHODS, AUTHORS[problem]):
            rates, accepted = {}, {}
            for turn in range(options.repetitions + 1):
                for (name, contestant), steps in zip(contestants.items(), STEPS[method]):
                    threads = " 2" if name == "ours" else ""
                    wall, cpu, answer = contestant.ask(f"chains {method}{threads} {steps}")
                    if turn > 0:  # the first round compiles and warms up
                        old = rates.get(name, (0, 0))
                        rates[name] = max(old[0], steps / wall), max(old[1], steps / cpu)
                        accepted[name] = float(answer[0])
            ours, jax, numpy = (rates[name] for name in ("ours", "jax", "numpy"))
            ratio = lambda rival: f"{ours[0] / rival[0]:.3g}, {ours[1] / rival[1]:.3g}"
            row(problem, method, *ours, *jax, *numpy, ratio(jax), ratio(numpy), float(authors), f"{accepted['ours']:.2f}, {accepted['jax']:.2f}")


# Question, model, clip bound, arithmetic operations of a record: products, sums, comparisons, roots and divisions alike, as the loops are written.
# gauss: 6 for each coordinate (gradient 1, norm 2, clip 1, rounding 1, integer sum 1) and 3; a clipped group 5 more for each record: a root, a division and
# choices. (The code takes about 20, a polynomial for an inverse root, and shifts twice what it need not write: neither is counted.)
# logistic: 18 for the predictor, 18 for the norm of the features, 39 for the slope, 3 products, 3 for each coordinate (2 for the intercept) and 3.
PASSES = [("gradient", "gauss", 40, 63), ("gradient", "gauss", 4, 68), ("gradient", "banana", 5, 19), ("gradient", "banana", 0.05, 24),
          ("gradient", "logistic", 10, 110), ("gradient", "logistic", 0.8, 115), ("ratio", "gauss", 10, 30), ("ratio", "banana", 0.1, 14)]


def pass_table(rust, options):
    table("The pass alone", ["question", "model", "n", "threads", "clipped", "ms, wall", "ms, CPU", "GB/s", "of the reading speed", "G operations/s", "of the limit"])
    for rows in (ROWS, 10 * ROWS):
        for threads in (1, 2):
            for question, model, clip, operations in PASSES:
                request = f"pass {question} {model} {rows} {clip} {threads} {options.passes * ROWS // rows + 1}"
                read, limit, found = [], [], []
                for _ in range(options.repetitions):  # in turns
                    found.append(rust.ask(request))
                    size = found[-1][2][0]
                    read.append(int(size) / rust.ask(f"read {size} {threads} {options.passes * ROWS // rows + 1}")[0])
                    wall, _, answer = rust.ask(f"operations {threads} 10")
                    limit.append(float(answer[0]) / wall)
                wall, cpu, (size, clipped) = min(f[0] for f in found), min(f[1] for f in found), found[-1][2]
                bytes_per_s, operations_per_s = int(size) / wall, operations * rows / wall
                row(question, model, f"{rows:,}", str(threads), f"{100 * float(clipped):.0f} %", 1e3 * wall, 1e3 * cpu, bytes_per_s / 1e9,
                    f"{100 * bytes_per_s / max(read):.0f} %", operations_per_s / 1e9, f"{100 * operations_per_s / max(limit):.0f} %")
    table("Reading speed and limit of arithmetic", ["threads", "sum over 1.6 MB, GB/s", "8 MB", "1 GB", "products and sums, G/s"])
    for threads in (1, 2):
        speeds = []
        for size, times in ((1_600_000, 500), (8_000_000, 200), (1_000_000_000, 4)):
            wall = rust.best(f"read {size} {threads} {times}", options.repetitions)[0]
            speeds.append(size / wall / 1e9)
        wall, _, answer = rust.best(f"operations {threads} 20", options.repetitions)
        row(str(threads), *speeds, float(answer[0]) / wall / 1e9)


def part_table(rust, options):
    table("Parts of a step, and the accountant", ["part", "wall", "CPU", "answer"])
    for name, request, unit in (
        ("one draw of exact noise, sd 100 clip bounds, us", "noise 100 10", 1e6),
        ("random bytes of one sample of 100,000 records, us", f"sample {ROWS} 200", 1e6),
        ("epsilon of 100,000 sampled steps, rate 0.01, sigma 15.8, s", "account epsilon 15.8 0.01 100000", 1),
        ("epsilon of 100,000 sampled steps, rate 0.01, sigma 4, s", "account epsilon 4 0.01 100000", 1),
        ("steps for epsilon 10, rate 0.01, sigma 4, s", "account steps 4 0.01 0", 1),
        ("steps for epsilon 10, rate 0.01, sigma 15.8, s", "account steps 15.8 0.01 0", 1),
    ):
        wall, cpu, answer = rust.best(request, min(options.repetitions, 3))
        row(name, unit * wall, unit * cpu, " to ".join(answer))


def environment(folder, options):
    if options.python:
        return options.python
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return str(python)


def build():
    command = ["cargo", "build", "--release", "--workspace", "--bin", "bench-chains", "--message-format=json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE).stdout
    executables = [line.split('"executable":"')[1].split('"')[0] for line in output.splitlines() if '"executable":"' in line]
    return [executables[-1]]


def compare(folder, options):
    rust = Contestant(build())
    if "chains" in options.only:
        python = environment(folder, options)
        subprocess.run([python, "-c", DATA, str(ROWS), str(folder)], check=True)
        rivals = {name: Contestant([python, str(HERE / "rivals.py"), name]) for name in ("jax", "numpy")}
        chain_table({"ours": rust} | rivals, folder, options)
    if "pass" in options.only:
        pass_table(rust, options)
    if "parts" in options.only:
        part_table(rust, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=["chains", "pass", "parts"])
    parser.add_argument("--folder", type=Path, help="keep the environment and the records here")
    parser.add_argument("--python", help="a Python that has jax and numpy already")
    options = parser.parse_args()
    options.repetitions = 2 if options.quick else options.repetitions
    options.passes = 100 if options.quick else 300
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return compare(options.folder, options)
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options)


if __name__ == "__main__":
    sys.exit(main())
