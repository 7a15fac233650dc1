#!/usr/bin/env python3
"""Checks that ArviZ reads a netCDF file of draws as they were written, and judges them as we do.

    pip install arviz h5netcdf netCDF4
    python3 arviz_reads.py draws.nc expected.json

The second file holds names, values (chain by chain, draw by draw), statistics and the summary (null to skip it). Works with
ArviZ 0.x (InferenceData) and 1.x (DataTree).
"""

import json
import sys

import arviz as az
import numpy as np


def group(data, name):
    """A group as a Dataset."""
    found = data[name]
    return found.to_dataset() if hasattr(found, "to_dataset") else found


def values_of(dataset, name):
    """The values of a parameter by its full name, chain by draw."""
    if name in dataset:
        return dataset[name]
    vector, label = name[:-1].split("[", 1)
    return dataset[vector].sel({f"{vector}_index": label})


def equal(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"), f"{what}: values differ"


def close(found, expected, what):
    expected = np.nan if expected is None else expected
    assert np.isclose(found, expected, rtol=1e-6, atol=0, equal_nan=True), f"{what}: {found}, not {expected}"


def check_posterior(posterior, expected):
    for name, values in expected["parameters"].items():
        array = values_of(posterior, name)
        assert array.dims[:2] == ("chain", "draw") and array.dtype == np.float64, f"{name}: {array}"
        equal(array, values, name)
    equal(posterior["chain"], expected["chains"], "chain")
    equal(posterior["draw"], range(posterior.sizes["draw"]), "draw")
    for attribute in ("created_by", "inference_library"):
        assert posterior.attrs[attribute] == "organza", posterior.attrs
    assert posterior.attrs["version"] == posterior.attrs["inference_library_version"] == expected["version"]


def check_statistics(statistics, expected):
    kinds = {"diverging": "b", "tree_depth": "i", "n_steps": "i"}
    for name, values in expected["statistics"].items():
        kind = kinds.get(name, "f")
        assert statistics[name].dtype.kind == kind, f"{name} has type {statistics[name].dtype}"
        equal(statistics[name], values, name)
    assert set(statistics.data_vars) == set(expected["statistics"]), statistics


def check_summary(data, expected):
    table = az.summary(data, round_to="none")
    rows = expected["summary"]["parameters"]
    # HDF5 lists variables by name; the entries of a vector keep their order.
    assert sorted(table.index) == sorted(row["name"] for row in rows), table.index
    # The table of ArviZ 1.x takes other quantiles for the tails than 0.05 and 0.95.
    tails = az.ess(data, method="tail", prob=(0.05, 0.95))
    tails = group(tails, "posterior") if "posterior" in getattr(tails, "children", ()) else tails
    for row in rows:
        for quantity in ("mean", "sd", "ess_bulk", "r_hat", "mcse_mean"):
            close(float(table.loc[row["name"], quantity]), row[quantity], f"{quantity} of {row['name']}")
        close(float(values_of(tails, row["name"])), row["ess_tail"], f"ess_tail of {row['name']}")


def energy_fractions(energy):
    """By hand: the function of ArviZ changed its form between versions."""
    energy = np.asarray(energy)
    return np.square(np.diff(energy, axis=1)).mean(axis=1) / energy.var(axis=1, ddof=1)


def main(file, expected):
    with open(expected) as stream:
        expected = json.load(stream)
    data = az.from_netcdf(file)
    check_posterior(group(data, "posterior"), expected)
    if expected["summary"]:
        check_summary(data, expected)
    if expected["statistics"]:
        statistics = group(data, "sample_stats")
        check_statistics(statistics, expected)
        found = energy_fractions(statistics["energy"])
        for chain, fraction in enumerate(expected["summary"]["energy_fractions"]):
            close(found[chain], fraction, f"E-BFMI of chain {chain}")
    print(f"ArviZ {az.__version__}: {len(expected['parameters'])} parameters agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
