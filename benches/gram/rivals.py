"""The other contestants of run.py: answers one request per line with seconds and a checksum."""

import sys
import time

GROUP_ROWS = 500_000
COLUMNS = 10


def peak():
    with open("/proc/self/status") as status:
        return next(line.split()[1] for line in status if line.startswith("VmHWM:"))


def hashed(rows, dimension):
    """The integer-valued matrix of matrix.rs, rows one after another."""
    import numpy as np

    matrix = np.empty((rows, dimension))
    step = max(1, 10_000_000 // dimension)
    for start in range(0, rows, step):
        stop = min(rows, start + step)
        place = np.arange(start * dimension, stop * dimension, dtype=np.uint64)
        hash = (place + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        hash ^= hash >> np.uint64(31)
        hash *= np.uint64(0xBF58476D1CE4E5B9)
        matrix[start:stop] = ((hash >> np.uint64(47)).astype(float) - 65536).reshape(-1, dimension)
    return matrix


class Blas:
    """OpenBLAS through numpy and scipy, on both layouts, without copies."""

    def __call__(self, words):
        import numpy as np

        if words[0] == "matrix":
            self.rows = hashed(int(words[1]), int(words[2]))
            self.columns = np.asfortranarray(self.rows)
            return []
        gram = self.map() if words[0] == "map" else self.product(words[1])
        return [int(gram[0, 0]), int(gram[-1, -1])]

    def product(self, kind):
        from scipy.linalg.blas import dsyrk

        if kind == "numpy-rows":
            return self.rows.T @ self.rows
        if kind == "numpy-columns":
            return self.columns.T @ self.columns
        if kind == "dsyrk-rows":
            return dsyrk(1.0, self.rows.T, trans=0)
        return dsyrk(1.0, self.columns, trans=1)

    def map(self):
        """Clamp to [-60,000, 60,000], normalise, round to 2^-16; an intercept in front. In blocks, as a user would."""
        import numpy as np

        dimension = self.rows.shape[1]
        gram = np.zeros((dimension + 1, dimension + 1))
        step = max(1024, 1_000_000 // dimension)
        block = np.empty((step, dimension + 1))
        block[:, 0] = 65536.0
        for start in range(0, len(self.rows), step):
            rows = self.rows[start : start + step]
            scaled = rows * (65536.0 / 60000.0)
            np.clip(scaled, -65536.0, 65536.0, out=scaled)
            np.rint(scaled, out=block[: len(rows), 1:])
            gram += block[: len(rows)].T @ block[: len(rows)]
        return gram


class DuckDb:
    """The same sums in SQL, on a file."""

    def __call__(self, words):
        if words[0] == "peak":
            return [peak()]
        import duckdb

        kind, threads, path = words
        connection = duckdb.connect()
        connection.execute(f"SET threads = {int(threads)}")
        row = connection.execute(sums(kind, path)).fetchone()
        return [row[0], row[-1]]


def sums(kind, path):
    """Number of rows, sums and products of all pairs; `clamped` to [-3, 3] and normalised, or `plain`."""
    columns = range(COLUMNS)
    expression = "greatest(-1.0, least(1.0, x{} * (1.0::DOUBLE / 3.0)))" if kind == "clamped" else "x{}"
    values = ", ".join(f"{expression.format(j)} AS u{j}" for j in columns)
    outputs = ["count(*)"] + [f"sum(u{j})" for j in columns]
    outputs += [f"sum(u{i} * u{j})" for j in columns for i in range(j + 1)]
    return f"SELECT {', '.join(outputs)} FROM (SELECT {values} FROM read_parquet('{path}'))"


class Data:
    """Writes a file of normal columns."""

    def __call__(self, words):
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows, path = int(words[0]), words[1]
        random = np.random.default_rng(1)
        schema = pa.schema([(f"x{j}", pa.float64()) for j in range(COLUMNS)])
        with pq.ParquetWriter(path, schema, compression="snappy") as writer:
            for start in range(0, rows, GROUP_ROWS):
                size = min(GROUP_ROWS, rows - start)
                columns = [random.standard_normal(size) for _ in range(COLUMNS)]
                writer.write_table(pa.table(columns, schema=schema))
        return [rows]


def main():
    contestant = {"blas": Blas, "duckdb": DuckDb, "data": Data}[sys.argv[1]]()
    for line in sys.stdin:
        start = time.perf_counter()
        answer = contestant(line.split())
        print(time.perf_counter() - start, *answer, flush=True)


if __name__ == "__main__":
    main()
