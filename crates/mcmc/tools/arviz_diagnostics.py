#!/usr/bin/env python3
"""Writes draws and what ArviZ says of them: the files of tests/golden.

    pip install "arviz<1"
    python3 tools/arviz_diagnostics.py tests/golden

Draws are rounded to six significant digits before ArviZ sees them, so that the files are small and hold exactly
the numbers that were used. One file for each set of draws (a column for each chain), and values.csv with one row
for each set and quantity.
"""

import datetime
import pathlib
import platform
import sys

import arviz as az
import numpy as np
import scipy

SEED = 20261116
MASS = 0.89
PROBABILITIES = [0.05, 0.5, 0.95]


def rounded(draws):
    return np.array([[float(f"{x:.6g}") for x in chain] for chain in draws])


def autoregressive(rng, phi, chains=4, draws=200):
    """A stationary chain with standard normal margins."""
    x = np.empty((chains, draws))
    x[:, 0] = rng.standard_normal(chains)
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * rng.standard_normal(chains)
    return x


def sets(rng):
    yield "normal", rng.standard_normal((4, 200))
    yield "odd_number", 3 + 0.001 * rng.standard_normal((3, 151))
    yield "one_chain", autoregressive(rng, 0.3, chains=1, draws=300)
    for phi in (0.5, 0.9, 0.99):
        yield f"autoregressive_{round(100 * phi)}", autoregressive(rng, phi)
    yield "antithetic_50", autoregressive(rng, -0.5)
    yield "antithetic_95", autoregressive(rng, -0.95)
    yield "cauchy", rng.standard_cauchy((4, 200))
    yield "shifted", rng.standard_normal((4, 100)) + np.array([[0], [0], [0], [2]])
    yield "scaled", rng.standard_normal((4, 100)) * np.array([[1], [1], [1], [5]])
    yield "stuck", np.repeat([[1.0], [2.0], [3.5], [4.0]], 50, axis=1)
    yield "one_stuck", np.vstack([autoregressive(rng, 0.5, 3, 60), np.full((1, 60), 0.1)])
    for draws in (3, 4, 5, 6, 7, 8, 9):
        yield f"draws_{draws}", rng.standard_normal((2, draws))
    yield "constant", np.full((4, 50), 0.1)
    yield "ties", np.floor(2 * autoregressive(rng, 0.6))
    yield "binary", (rng.random((4, 100)) < 0.3).astype(float)
    yield "rare", (rng.random((4, 100)) < 0.02).astype(float)
    yield "tiny", 1e-9 * autoregressive(rng, 0.5, 2, 60)


def quantities(x):
    data = az.convert_to_dataset(x)
    value = lambda result: float(result["x"].values)
    yield "r_hat", value(az.rhat(data))
    for method in ("mean", "sd", "bulk", "tail", "median"):
        yield f"ess_{method}", value(az.ess(data, method=method))
    for method in ("mean", "sd"):
        yield f"mcse_{method}", value(az.mcse(data, method=method))
    for probability in PROBABILITIES:
        yield f"ess_quantile_{probability}", value(az.ess(data, method="quantile", prob=probability))
        yield f"mcse_quantile_{probability}", value(az.mcse(data, method="quantile", prob=probability))
        yield f"quantile_{probability}", float(np.quantile(x, probability))
    low, high = az.hdi(x.ravel(), hdi_prob=MASS)
    yield "hdi_lower", float(low)
    yield "hdi_upper", float(high)
    yield "mean", float(x.mean())
    yield "sd", float(x.std(ddof=1))
    for chain, energy in enumerate(az.bfmi(x)):
        yield f"energy_{chain}", float(energy)


def main(folder):
    rng = np.random.Generator(np.random.PCG64(SEED))
    versions = f"ArviZ {az.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    head = "# tools/arviz_diagnostics.py tests/golden\n"
    head += f"# {versions}, Python {platform.python_version()}, seed {SEED}, {now}\n"
    rows = []
    for name, draws in sets(rng):
        x = rounded(draws)
        lines = [",".join(f"{value!r}" for value in row) for row in x.T.tolist()]
        (folder / f"{name}.csv").write_text(head + "\n".join(lines) + "\n")
        rows += [f"{name},{quantity},{value!r}" for quantity, value in quantities(x)]
    (folder / "values.csv").write_text(head + "set,quantity,value\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
