"""Writes tests/golden/formula.csv: the columns that formulaic makes of formulas, in our names.

Run in the folder of the crate:  pip install formulaic==1.2.2 && python tools/formulaic_terms.py

Differences of naming that are mapped: `site[T.b]` is `site[b]`, `I(x1 ** (-2))` is `I(x1^-2)`. A column is
described by its weighted sum, sum over rows i = 0, 1, ... of (i + 1) value_i, over the table of `frame`, which
the test builds again. `refused` marks a formula that formulaic does not read.
"""

import datetime
import re
import sys

import formulaic
import numpy
import pandas

FORMULAS = """
y ~ x1
y ~ 1
y ~ x1 + x2
y ~ x1 + x2 - 1
y ~ 0 + x1 + x2
y ~ -1 + x1
y ~ 0 + x1 + 1
y ~ x1 - 0
y ~ x1:x2
y ~ x2:x1 + x1
y ~ x1*x2
y ~ x1*x2*x3
y ~ x1*x2*x3 - x1:x2:x3
y ~ (x1 + x2 + x3)^2
y ~ (x1 + x2 + x3)^3
y ~ (x1 + x2)*x3
y ~ (x1 + x2):x3
y ~ (x1 + x2 + x3)^2 - x1
y ~ x1*x2 - x2:x1
y ~ (1 + x1 + x2)^2
y ~ x1 + x1 + x2:x1 + x1:x2
y ~ x1:x1
y ~ x1 - x2
y ~ x1:x2 + x3
y ~ I(x1^2)
y ~ x1 + I(x1^2) + I(x1^3)
y ~ I(x1 * x2 / 3 + 1)
y ~ I(-x1^2)
y ~ I((-x3)^3)
y ~ I(x1 - (x2 - x3))
y ~ I(2 * (x1 + x2)) + x1
y ~ I(1 / x1):x2
y ~ I(x1^-2)
y ~ I(x1^0.5)
y ~ log(x1) + log2(x1) + log10(x1) + log1p(x1)
y ~ exp(x3) + sqrt(x2) + abs(x3)
y ~ log(x1):x2 + log(x1)
y ~ log(x1 * x2 + 1)
log(y) ~ x1
I(y^2) ~ x1
sqrt(y) ~ log(x1)*x2
y ~ `body mass`
y ~ `body mass`:x1 + `body mass`
y ~ log(`body mass`)
y ~ site
y ~ 0 + site
y ~ site + sex
y ~ 0 + site + sex
y ~ 0 + x1 + site
y ~ site*sex
y ~ 0 + site*sex
y ~ site*sex - site
y ~ site:sex
y ~ 0 + site:sex
y ~ sex + sex:site
y ~ sex + site:sex
y ~ 0 + sex + sex:site
y ~ site*sex*arm
y ~ (site + sex + arm)^2
y ~ 0 + (site + sex + arm)^2
y ~ site:sex + site:arm
y ~ x1 + site
y ~ x1*site
y ~ x1:site
y ~ site + x1:site
y ~ site + site:x1
y ~ 0 + x1:site
y ~ 0 + x1 + x1:site
y ~ x1*site*sex
y ~ x1:site:sex
y ~ x1 + x2 + x1:site + x2:site
y ~ x1:site + site:sex
y ~ 0 + sex:x1 + site
y ~ log(x1)*site
y ~ I(x1^2):site + site
y ~ (x1 + x2 + site)^2
""".strip().splitlines()


def frame():
    i = numpy.arange(24)
    return pandas.DataFrame(
        {
            "y": 3.0 + (i * i) % 11,
            "x1": 1.0 + i / 4,
            "x2": 2.0 + (5 * i) % 7,
            "x3": -2.0 + (3 * i) % 5,
            "body mass": 50.0 + (7 * i) % 13,
            "site": pandas.Categorical([["a", "b", "c"][k % 3] for k in i], categories=["a", "b", "c"]),
            "sex": pandas.Categorical([["f", "m"][k // 3 % 2] for k in i], categories=["f", "m"]),
            "arm": pandas.Categorical([["p", "q"][k // 6 % 2] for k in i], categories=["p", "q"]),
        }
    )


def python_powers(formula):
    """Inside I(...) a power is `**` in Python."""
    return re.sub(r"I\(.*?\)(?=$|[ :+])", lambda part: part.group().replace("^", "**"), formula)


def our_name(name):
    name = name.replace("[T.", "[").replace("**", "^").replace(" ^ ", "^")
    name = re.sub(r"\^\((-[0-9.]+)\)", r"^\1", name)
    return re.sub(r"\bbody mass\b", "`body mass`", name.replace("`", ""))


def described(matrix):
    weights = numpy.arange(1, len(matrix) + 1)
    columns = [name for name in matrix.columns if name != "Intercept"]
    sums = [repr(float((weights * matrix[name].to_numpy(dtype=float)).sum())) for name in columns]
    return [our_name(name) for name in columns], sums


def main():
    context = {"log1p": numpy.log1p, "sqrt": numpy.sqrt, "abs": numpy.abs, "log2": numpy.log2}
    with open("tests/golden/formula.csv", "w") as out:
        out.write(f"# Made by tools/formulaic_terms.py with formulaic {formulaic.__version__}, ")
        out.write(f"Python {sys.version_info.major}.{sys.version_info.minor}, on {datetime.date.today()}.\n")
        out.write("formula,response,intercept,names,sums\n")
        for formula in FORMULAS:
            try:
                matrices = formulaic.Formula(python_powers(formula)).get_model_matrix(frame(), context=context)
            except formulaic.errors.FormulaSyntaxError:
                out.write(f"{formula},refused,,,\n")
                continue
            intercept = str("Intercept" in matrices.rhs.columns).lower()
            names, sums = described(matrices.rhs)
            response = described(matrices.lhs)[0][0]
            out.write(f"{formula},{response},{intercept},{' | '.join(names)},{' | '.join(sums)}\n")


main()
