#!/usr/bin/env python3
"""Times the exact Gram pass against OpenBLAS (through numpy and scipy) and DuckDB, in one run.

    python3 benches/gram/run.py            the whole comparison
    python3 benches/gram/run.py --quick    a tenth of the rows, three repetitions

Makes a virtual environment and the data in a temporary folder (or in --folder, kept), builds the Rust binary, takes
turns between all contestants and prints Markdown tables. Every repetition times each contestant once, so that a
disturbance hits all of them alike. Results are compared, not only times.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["numpy", "scipy", "pyarrow", "duckdb"]
DIMENSIONS = [2, 5, 10, 14, 20, 50, 100, 200]
BLAS = ["numpy-rows", "numpy-columns", "dsyrk-rows", "dsyrk-columns"]


class Contestant:
    """A process that answers one request per line with seconds and a checksum."""

    def __init__(self, command, threads):
        environment = dict(os.environ, OPENBLAS_NUM_THREADS=str(threads))
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a contestant stopped at the request: {request}")
        seconds, *answer = line.split()
        return float(seconds), answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Race:
    """Contestants take turns; times are kept by name."""

    def __init__(self, repetitions):
        self.repetitions = repetitions
        self.times = {}

    def run(self, entries):
        """entries: name -> (contestant, request). Returns name -> answer of the last repetition."""
        answers = {}
        for repetition in range(self.repetitions + 1):
            for name, (contestant, request) in entries.items():
                seconds, answers[name] = contestant.ask(request)
                if repetition > 0:  # the first round warms caches up
                    self.times.setdefault(name, []).append(seconds)
        return answers

    def best(self, name):
        return min(self.times[name])

    def median(self, name):
        return statistics.median(self.times[name])

    def cell(self, name):
        return f"{1e3 * self.best(name):.2f} / {1e3 * self.median(name):.2f}"

    def ratio(self, slow, fast):
        return f"{self.best(slow) / self.best(fast):.2f} / {self.median(slow) / self.median(fast):.2f}"


def check(condition, message):
    if not condition:
        raise SystemExit(f"results differ: {message}")


def product_table(rust, blas, threads, options):
    """W'W of an integer-valued matrix in memory; 2^53 is not reached, so all results must be equal."""
    print(f"\n### Product only, {options.rows:,} rows, {threads} thread(s); ms, best / median\n")
    print("| columns | ours | GFLOP/s | " + " | ".join(BLAS) + " | ours is faster than the best of them by |")
    print("| --- " * (len(BLAS) + 4) + "|")
    for dimension in DIMENSIONS:
        for contestant in (rust, blas):
            contestant.ask(f"matrix {options.rows} {dimension}")
        race = Race(options.repetitions)
        entries = {"ours": (rust, f"product {threads}")} | {name: (blas, f"product {name}") for name in BLAS}
        answers = race.run(entries)
        for name in BLAS:
            check(answers[name] == answers["ours"], f"{name} {answers[name]}, ours {answers['ours']}")
        rival = min(BLAS, key=race.median)
        speed = options.rows * dimension * (dimension + 1) / race.best("ours") / 1e9
        cells = [str(dimension), race.cell("ours"), f"{speed:.1f}", *map(race.cell, BLAS), race.ratio(rival, "ours")]
        print("| " + " | ".join(cells) + " |", flush=True)


def map_table(rust, blas, threads, options):
    """Clamp, normalise, round and multiply columns in memory, with an intercept."""
    print(f"\n### Map and product, {options.rows:,} rows of f64 columns, {threads} thread(s); ms, best / median\n")
    print("| columns | ours, box | ours, scaled records | numpy, box | ours is faster (box) by |\n|" + " --- |" * 5)
    for dimension in DIMENSIONS:
        for contestant in (rust, blas):
            contestant.ask(f"matrix {options.rows} {dimension}")
        race = Race(options.repetitions)
        entries = {name: (rust, f"map {name} {threads}") for name in ("box", "scaled")}
        answers = race.run(entries | {"numpy": (blas, "map box")})
        check(answers["numpy"] == answers["box"], f"numpy {answers['numpy']}, ours {answers['box']}")
        cells = [str(dimension), *map(race.cell, ("box", "scaled", "numpy")), race.ratio("numpy", "box")]
        print("| " + " | ".join(cells) + " |", flush=True)


def parquet_table(rust, duck, threads, path, options):
    """The full pass over a file."""
    race = Race(options.repetitions)
    entries = {f"ours, {shape}": (rust, f"parquet {shape} {threads} {path}") for shape in ("box", "scaled")}
    entries |= {f"DuckDB, {kind}": (duck, f"{kind} {threads} {path}") for kind in ("clamped", "plain")}
    answers = race.run(entries)
    exact = int(answers["ours, box"][1]) / 4.0**16
    close = abs(float(answers["DuckDB, clamped"][1]) / exact - 1) < 1e-6
    check(close, f"DuckDB {answers['DuckDB, clamped'][1]}, ours {exact}")
    for name in entries:
        ratio = race.ratio(name, "ours, box") if name.startswith("DuckDB") else ""
        print(f"| {threads} | {name} | {race.cell(name)} | {ratio} |", flush=True)


def parquet_tables(binary, worker, folder, options):
    print(f"\n### Parquet, {10 * options.rows:,} rows, 10 columns, snappy; ms, best / median\n")
    print("| threads | pass | time | ours (box) is faster by |\n| --- | --- | --- | --- |")
    path = folder / f"table-{options.rows}.parquet"
    data, duck = Contestant(worker + ["data"], 1), Contestant(worker + ["duckdb"], 2)
    for rows, file in ((10 * options.rows, path), (options.rows, folder / "small.parquet")):
        data.ask(f"{rows} {file}")
    rust = Contestant(binary, 1)
    for threads in options.threads:
        parquet_table(rust, duck, threads, path, options)
    small = Contestant(binary, 1)
    small.ask(f"parquet scaled 2 {folder / 'small.parquet'}")
    peaks = [int(contestant.ask("peak")[1][0]) / 1024 for contestant in (small, rust, duck)]
    print("\nPeak memory (VmHWM): ours {:.0f} MB for a tenth of the rows, {:.0f} MB for all; DuckDB {:.0f} MB.".format(*peaks))
    for contestant in (data, duck, rust, small):
        contestant.close()


def environment(folder):
    """A virtual environment with the other contestants; returns its Python."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return str(python)


def build():
    command = ["cargo", "build", "--release", "--message-format=json", "--manifest-path", HERE / "Cargo.toml"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    executables = [line.split('"executable":"')[1].split('"')[0] for line in output.splitlines() if '"executable":"' in line]
    return [executables[-1]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three repetitions")
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", default=["product", "map", "parquet"])
    parser.add_argument("--folder", type=Path, help="keep the environment and the data here")
    options = parser.parse_args()
    options.rows = 100_000 if options.quick else 1_000_000
    options.repetitions = 3 if options.quick else options.repetitions
    return options


def compare(folder, options):
    worker = [environment(folder), str(HERE / "rivals.py")]
    binary = build()
    for table, name in ((product_table, "product"), (map_table, "map")):
        for threads in options.threads if name in options.only else []:
            rust, blas = Contestant(binary, threads), Contestant(worker + ["blas"], threads)
            table(rust, blas, threads, options)
            rust.close()
            blas.close()
    if "parquet" in options.only:
        parquet_tables(binary, worker, folder, options)


def main():
    options = arguments()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        compare(options.folder, options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder), options)


if __name__ == "__main__":
    sys.exit(main())
