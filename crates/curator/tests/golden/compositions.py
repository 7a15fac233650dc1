"""Writes compositions.csv: losses of random sequences of releases by an independent accountant.

    pip install dp-accounting==0.6.0 && python compositions.py > compositions.csv

Each line is a sequence: a mechanism and its numbers for each release, the delta, and bounds of the epsilon at that delta on
both sides ("least" with losses rounded down, "most" with losses rounded up, on a grid of 4e-5).
"""

import math
import random
import sys

from dp_accounting.pld import privacy_loss_distribution as pld

GRID = 4e-5


def distribution(kind, numbers, most):
    options = {"pessimistic_estimate": most, "value_discretization_interval": GRID}
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(1 / numbers[0], use_connect_dots=most, **options)
    if kind == "laplace":
        return pld.from_laplace_mechanism(1 / numbers[0], use_connect_dots=most, **options)
    if kind == "pure":
        return pld.from_randomized_response(2 / (1 + math.exp(numbers[0])), 2, **options)
    if kind == "discrete-gaussian":
        scale, moved = numbers
        return pld.from_discrete_gaussian_mechanism(scale, **options).self_compose(int(moved))
    if kind == "approximate":
        epsilon, delta = numbers
        odds = math.log(math.expm1(epsilon) + 2)
        high, low, gone = (math.log1p(-delta) + value for value in (epsilon - odds, -odds, -math.inf))
        upper = {0: math.log(delta), 1: high, 2: low, 3: gone}
        lower = {0: gone, 1: low, 2: high, 3: math.log(delta)}
        return pld.from_two_probability_mass_functions(lower, upper, **options)
    sigma, rate, steps = numbers
    once = pld.from_gaussian_mechanism(sigma, sampling_prob=rate, use_connect_dots=most, **options)
    return once.self_compose(int(steps))


def release(dice):
    kind = dice.choice(["gaussian", "gaussian", "laplace", "pure", "discrete-gaussian", "approximate", "subsampled"])
    number = lambda low, high: float(f"{math.exp(dice.uniform(math.log(low), math.log(high))):.4g}")
    numbers = {
        "gaussian": lambda: [number(0.03, 1)],
        "laplace": lambda: [number(0.03, 1)],
        "pure": lambda: [number(0.03, 1)],
        "discrete-gaussian": lambda: [number(2, 30), dice.choice([1, 2, 4])],
        "approximate": lambda: [number(0.03, 1), number(1e-12, 1e-9)],
        "subsampled": lambda: [number(1, 4), number(0.01, 0.3), dice.randint(1, 20)],
    }
    return kind, numbers[kind]()


def main():
    dice = random.Random(20261118)
    print("# Epsilon of random sequences of releases, by Google's dp-accounting 0.6.0: compositions.py says how. 2026-11-18.")
    print("releases,delta,least,most")
    for line in range(200):
        releases = [release(dice) for _ in range(dice.randint(2, 8))]
        delta = dice.choice([1e-5, 1e-6, 1e-8])
        bounds = []
        for most in [False, True]:
            whole = None
            for kind, numbers in releases:
                one = distribution(kind, numbers, most)
                whole = one if whole is None else whole.compose(one)
            bounds.append(whole.get_epsilon_for_delta(delta))
        words = ";".join(" ".join([kind, *map(str, numbers)]) for kind, numbers in releases)
        print(f"{words},{delta},{bounds[0]},{bounds[1]}", flush=True)
        print(line, file=sys.stderr, end=" ", flush=True)


main()
