#!/usr/bin/env python3
"""Writes the high-precision table of privacy losses that tests/golden/loss.csv holds.

    python3 tools/mpmath_loss_table.py > tests/golden/loss.csv

Every input in the table is a double printed so that it reads back exactly, and every value is the exact
function of that double, computed with 60 digits and printed with 25. The formulas are the textbook ones
(normal distribution functions, no rearrangement against cancellation), so that they share nothing with the
Rust code: 60 digits make cancellation harmless. Roots are bisected, so no solver's tolerance enters.
Needs only mpmath.
"""

import datetime
import platform

import mpmath
from mpmath import mp, mpf

mp.dps = 60

EPSILONS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
DELTAS = [1e-15, 1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1, 0.5]
PERTURBATIONS = [0.5, 0.9, 1.0, 1.01, 1.25, 2.0]
# Each mechanism is one word: g = Gaussian mu, p = pure epsilon, a = approximate epsilon:delta.
COMPOSITIONS = [
    "g0.1 g0.2 g0.3",
    "g0.5 g0.5 g0.5 g0.5",
    "g0.01 g1.5 g0.7 p0.25",
    "p0.1 p0.2 p0.3",
    "g0.3 a0.2:1e-07",
    "g0.05 g0.4 p0.3 a0.1:1e-08 a0.25:1e-09",
]
COMPOSITION_EPSILONS = [0.75, 1.0, 2.5, 6.0]
COMPOSITION_DELTAS = [1e-6, 1e-3]
STEP_SCALES = [1e-4, 0.003, 0.05, 0.4]


def gaussian_delta(epsilon, mu):
    """[BW18] Theorem 8, as printed."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def bisect(is_low, low, high):
    """The point where is_low turns from true to false, to 55 digits."""
    while (high - low) > abs(high) * mpf(10) ** -55:
        middle = (low + high) / 2
        if is_low(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def gaussian_mu(epsilon, delta):
    high = mpf(1)
    while gaussian_delta(epsilon, high) < delta:
        high *= 2
    return bisect(lambda mu: mu == 0 or gaussian_delta(epsilon, mu) < delta, mpf(10) ** -30, high)


def gaussian_epsilon(delta, mu):
    if gaussian_delta(mpf(0), mu) <= delta:
        return mpf(0)
    high = mpf(1)
    while gaussian_delta(high, mu) > delta:
        high *= 2
    return bisect(lambda epsilon: gaussian_delta(epsilon, mu) > delta, mpf(0), high)


def zcdp_log_delta_at(rho, epsilon, alpha):
    """[CKS20] Corollary 13 before the infimum, as printed."""
    return (alpha - 1) * (alpha * rho - epsilon) - mpmath.log(alpha - 1) + alpha * mpmath.log1p(-1 / alpha)


def zcdp_delta(rho, epsilon):
    """The infimum over the order by bisection on a difference quotient: no derivative by hand."""
    step = mpf(10) ** -25

    def falls(log_excess):
        excess = mpmath.exp(log_excess)
        left = zcdp_log_delta_at(rho, epsilon, 1 + excess * (1 - step))
        return zcdp_log_delta_at(rho, epsilon, 1 + excess * (1 + step)) < left

    low, high = mpf(-60), mpf(60)
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return mpmath.exp(zcdp_log_delta_at(rho, epsilon, 1 + mpmath.exp(low)))


def short_bisect(is_low, low, high):
    """As bisect, to 30 digits: each evaluation is itself a minimisation."""
    while (high - low) > abs(high) * mpf(10) ** -30:
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return (low + high) / 2


def zcdp_epsilon(rho, delta):
    classic = rho + 2 * mpmath.sqrt(rho * mpmath.log(1 / delta))
    if zcdp_delta(rho, mpf(0)) <= delta:
        return mpf(0)
    return short_bisect(lambda epsilon: zcdp_delta(rho, epsilon) > delta, mpf(0), classic)


def zcdp_rho(epsilon, delta):
    high = mpf(1)
    while zcdp_delta(high, epsilon) < delta:
        high *= 2
    return short_bisect(lambda rho: rho == 0 or zcdp_delta(rho, epsilon) < delta, mpf(0), high)


def parse(composition):
    mu_squared, epsilon, delta = mpf(0), mpf(0), mpf(0)
    for word in composition.split():
        values = [mpf(float(part)) for part in word[1:].split(":")]
        if word[0] == "g":
            mu_squared += values[0] ** 2
        else:
            epsilon += values[0]
            delta += values[1] if word[0] == "a" else 0
    return mpmath.sqrt(mu_squared), epsilon, delta


def composition_delta(composition, epsilon):
    mu, offset, delta = parse(composition)
    return delta + (gaussian_delta(epsilon - offset, mu) if mu > 0 else 0)


def composition_epsilon(composition, delta):
    mu, offset, spent = parse(composition)
    return offset + (gaussian_epsilon(delta - spent, mu) if mu > 0 else 0)


def row(quantity, first, second, value):
    shown = str(value) if isinstance(value, int) else mpmath.nstr(value, 25, strip_zeros=False)
    first = first if isinstance(first, str) else repr(first)
    print(f"{quantity},{first},{second!r},{shown}")


def gaussian_rows(epsilon, delta):
    exact = gaussian_mu(mpf(epsilon), mpf(delta))
    row("gaussian_mu", epsilon, delta, exact)
    for factor in PERTURBATIONS:
        mu = float(exact) * factor
        row("gaussian_delta", epsilon, mu, gaussian_delta(mpf(epsilon), mpf(mu)))
    mu = float(exact)
    row("gaussian_epsilon", delta, mu, gaussian_epsilon(mpf(delta), mpf(mu)))


def zcdp_rows(epsilon, delta):
    rho = zcdp_rho(mpf(epsilon), mpf(delta))
    row("zcdp_rho", epsilon, delta, rho)
    row("zcdp_delta", float(rho), epsilon, zcdp_delta(mpf(float(rho)), mpf(epsilon)))
    row("zcdp_epsilon", float(rho), delta, zcdp_epsilon(mpf(float(rho)), mpf(delta)))


def main():
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0).isoformat()
    print("# Privacy losses with 60 digits: tools/mpmath_loss_table.py > tests/golden/loss.csv")
    print(f"# mpmath {mpmath.__version__}, Python {platform.python_version()}, {now}")
    print("# inputs are exact doubles; values are rounded to 25 digits")
    print("quantity,first,second,value")
    for epsilon in EPSILONS:
        for delta in DELTAS:
            gaussian_rows(epsilon, delta)
            zcdp_rows(epsilon, delta)
            limit = gaussian_mu(mpf(epsilon), mpf(delta))
            for scale in STEP_SCALES:
                steps = int(mpmath.floor((limit / mpf(scale)) ** 2))
                row(f"steps_{scale!r}", epsilon, delta, steps)
    for composition in COMPOSITIONS:
        for epsilon in COMPOSITION_EPSILONS:
            row("composition_delta", composition, epsilon, composition_delta(composition, mpf(epsilon)))
        for delta in COMPOSITION_DELTAS:
            row("composition_epsilon", composition, delta, composition_epsilon(composition, mpf(delta)))


if __name__ == "__main__":
    main()
