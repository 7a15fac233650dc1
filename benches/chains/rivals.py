"""The four private chains in JAX and in NumPy, written for this benchmark from the description of the algorithms: 4 chains in lockstep.

Answers one request per line: `load PROBLEM ROWS PATH`, `chains METHOD STEPS`, `gradient CLIP`. The first two numbers of an answer are wall and
CPU seconds. JAX compiles a whole run of STEPS steps into one program; compiling is not timed. Records are sampled one by one, as the accountant wants it.
"""

import os
import sys
import time
from functools import partial

import numpy

CHAINS = 4
HMC = {"banana": (0.10, 0.55, 25, 0.006, 0.1, 0.05), "gauss": (0.10, 0.25, 12, 0.00015, 6.0, 10.0)}
WALK = {"banana": (0.17, 0.06, 0.15), "gauss": (0.05, 0.0007, 10.0)}
LANGEVIN = {"banana": (0.2, 1.0), "gauss": (15.0, 0.008)}
THERMOSTAT = {"banana": (0.2, 100.0, 50.0), "gauss": (12.0, 0.2, 30.0)}


class Banana:
    dimension = 2

    def __init__(self, xp, values, rows):
        self.xp, self.records = xp, values.reshape(2, rows).T.copy()
        self.start, self.scatter = numpy.array([0.0, 3.0]), 0.1

    def residuals(self, theta, records):
        return records - self.xp.stack([theta[0], theta[1] + 20.0 * theta[0] ** 2])

    def log_likelihood(self, theta, records):
        return -0.5 * self.residuals(theta, records) ** 2 @ self.xp.array([5e-4, 4e-4])

    def gradients(self, theta, records):
        pull = self.residuals(theta, records) * self.xp.array([5e-4, 4e-4])
        return self.xp.stack([pull[:, 0] + 40.0 * theta[0] * pull[:, 1], pull[:, 1]], axis=1)

    def log_prior(self, theta):
        return -0.5e-3 * (theta[0] ** 2 + (theta[1] + 20.0 * theta[0] ** 2) ** 2)

    def prior_gradient(self, theta):
        second = theta[1] + 20.0 * theta[0] ** 2
        return -1e-3 * self.xp.stack([theta[0] + 40.0 * theta[0] * second, second])


class Gauss:
    dimension = 10

    def __init__(self, xp, values, rows):
        self.xp, self.records = xp, values[100:].reshape(10, rows).T.copy()
        self.precision = numpy.linalg.inv(values[:100].reshape(10, 10))
        self.start, self.scatter = numpy.zeros(10), 1e-4

    def log_likelihood(self, theta, records):
        residuals = records - theta
        return -0.5 * ((residuals @ self.precision) * residuals).sum(axis=1)

    def gradients(self, theta, records):
        return (records - theta) @ self.precision

    def log_prior(self, theta):
        return -0.5e-4 * theta @ theta

    def prior_gradient(self, theta):
        return -1e-4 * theta


class Numpy:
    """Plain arrays, a loop over steps and chains."""

    xp = numpy

    def __init__(self, model):
        self.model, self.rng = model, numpy.random.default_rng(1)

    def normal(self, key, shape=()):
        return self.rng.standard_normal(shape)

    def uniform(self, key):
        return self.rng.random()

    def split(self, key, count):
        return [None] * count

    def sample(self, key, rate):
        records = self.model.records[self.rng.random(len(self.model.records)) < rate]
        return records, numpy.ones(len(records))

    def select(self, condition, yes, no):
        return yes if condition else no

    def repeat(self, body, state, count):
        for _ in range(count):
            state = body(state)
        return state

    def run(self, step, state, steps):
        states = [tuple(part[chain] for part in state) for chain in range(CHAINS)]
        draws = []
        for _ in range(steps):
            states = [step(None, one) for one in states]
            draws.append([one[0] for one in states])
        return numpy.array(draws)


class Jax:
    """Everything compiled: the steps by scan, the chains by vmap."""

    def __init__(self, model):
        self.model, self.compiled = model, {}
        self.xp = model.xp
        model.records = self.xp.array(model.records)

    def normal(self, key, shape=()):
        return jax.random.normal(key, shape, dtype=self.xp.float64)

    def uniform(self, key):
        return jax.random.uniform(key)

    def split(self, key, count):
        return jax.random.split(key, count)

    def sample(self, key, rate):
        """Poisson sampling with shapes that are known: room for 8 standard deviations, and weights 0 for what is left over."""
        rows = len(self.model.records)
        room = int(rows * rate + 8 * (rows * rate) ** 0.5)
        chosen = jax.random.uniform(key, (rows,)) < rate
        places = self.xp.nonzero(chosen, size=room, fill_value=rows)[0]
        return self.model.records.at[places].get(mode="clip"), (places < rows) * 1.0

    def select(self, condition, yes, no):
        return jax.tree.map(partial(self.xp.where, condition), yes, no)

    def repeat(self, body, state, count):
        return jax.lax.fori_loop(0, count, lambda _, state: body(state), state)

    def run(self, step, state, steps):
        if (step, steps) not in self.compiled:

            @jax.jit
            def program(state, key):
                def all_chains(state, key):
                    state = jax.vmap(step)(jax.random.split(key, CHAINS), state)
                    return state, state[0]

                return jax.lax.scan(all_chains, state, jax.random.split(key, steps))[1]

            self.compiled[step, steps] = program
        return self.compiled[step, steps](state, jax.random.key(time.monotonic_ns() % 2**31)).block_until_ready()


class Methods:
    """One step of a chain: (key, state) -> state, the position first."""

    def __init__(self, back, problem):
        self.back, self.model, self.problem = back, back.model, problem
        self.rows = len(self.model.records)
        self.cache = {}

    def clipped_sum(self, theta, clip, records, weights=None):
        gradients = self.model.gradients(theta, records)
        norms = self.back.xp.sqrt((gradients**2).sum(axis=1))
        factors = self.back.xp.minimum(1.0, clip / self.back.xp.maximum(norms, 1e-300))
        return (factors if weights is None else factors * weights) @ gradients

    def noisy_ratio(self, key, old, new, clip, tau):
        xp = self.back.xp
        bound = clip * xp.sqrt(((new - old) ** 2).sum())
        records = self.model.records
        ratios = self.model.log_likelihood(new, records) - self.model.log_likelihood(old, records)
        sd = 2 * tau * self.rows**0.5 * bound
        total = xp.clip(ratios, -bound, bound).sum() + sd * self.back.normal(key)
        return total + self.model.log_prior(new) - self.model.log_prior(old), sd**2

    def walk(self, key, state):
        tau, size, clip = WALK[self.problem]
        (theta,), keys = state, self.back.split(key, 3)
        proposal = theta + size * self.back.normal(keys[0], theta.shape)
        ratio, variance = self.noisy_ratio(keys[1], theta, proposal, clip, tau)
        accept = self.back.xp.log(self.back.uniform(keys[2])) < ratio - 0.5 * variance
        return (self.back.select(accept, proposal, theta),)

    def hmc(self, key, state):
        tau, tau_g, leaps, longest, ratio_clip, clip = HMC[self.problem]
        (theta, number), keys = state, self.back.split(key, 6)
        size = longest * number
        sd = 2 * tau_g * self.rows**0.5 * clip

        def gradient(theta, key):
            total = self.clipped_sum(theta, clip, self.model.records)
            return total + sd * self.back.normal(key, theta.shape) + self.model.prior_gradient(theta)

        def leap(state):
            position, momentum, key = state
            key, one = self.back.split(key, 2)
            momentum = momentum + size * gradient(position, one)
            return position + size * momentum, momentum, key

        momentum = self.back.normal(keys[0], theta.shape)
        before = 0.5 * momentum @ momentum
        momentum = momentum + 0.5 * size * gradient(theta, keys[1])
        position, momentum, _ = self.back.repeat(leap, (theta + size * momentum, momentum, keys[2]), leaps - 1)
        momentum = momentum + 0.5 * size * gradient(position, keys[3])
        ratio, variance = self.noisy_ratio(keys[4], theta, position, ratio_clip, tau)
        energy = ratio + before - 0.5 * momentum @ momentum - 0.5 * variance
        accept = self.back.xp.log(self.back.uniform(keys[5])) < energy
        # Any sequence in (0, 1) takes the same time as a Halton sequence.
        return self.back.select(accept, position, theta), (number + 0.6180339887498949) % 1.0

    def sampled(self, theta, key, clip):
        records, weights = self.back.sample(key, 1000 / self.rows)
        total = self.clipped_sum(theta, clip, records, weights)
        return self.rows / 1000 * total + self.model.prior_gradient(theta)

    def langevin(self, key, state):
        clip, eta = LANGEVIN[self.problem]
        (theta,), keys, size = state, self.back.split(key, 2), eta / self.rows
        noise = size**0.5 * self.back.normal(keys[1], theta.shape)
        return (theta + size * self.sampled(theta, keys[0], clip) + noise,)

    def thermostat(self, key, state):
        clip, eta, friction = THERMOSTAT[self.problem]
        (theta, p, heat), keys, h = state, self.back.split(key, 2), eta / self.rows
        push = h * self.sampled(theta, keys[0], clip) + (2 * friction * h) ** 0.5 * self.back.normal(keys[1], p.shape)
        return theta + h * p, p - h * heat * p + push, heat + h * ((p * p).mean() - 1.0)

    def start(self, method):
        rng = numpy.random.default_rng(3)
        shape = (CHAINS, self.model.dimension)
        theta = self.model.start + self.model.scatter * rng.standard_normal(shape)
        extra = {"dp-hmc": [rng.random(CHAINS)], "dp-sgnht": [rng.standard_normal(shape), numpy.full(CHAINS, THERMOSTAT[self.problem][2])]}
        return tuple(self.back.xp.asarray(part) for part in [theta, *extra.get(method, [])])

    def chains(self, method, steps):
        names = {"dp-hmc": "hmc", "dp-penalty": "walk", "dp-sgld": "langevin", "dp-sgnht": "thermostat"}
        step = self.cache.setdefault(method, getattr(self, names[method]))
        return numpy.asarray(self.back.run(step, self.start(method), steps))


def acceptance(draws):
    return float((abs(numpy.diff(draws, axis=0)).sum(axis=2) > 0).mean()) if len(draws) > 1 else 1.0


def main():
    methods = None
    for line in sys.stdin:
        words = line.split()
        wall, cpu = time.perf_counter(), time.process_time()
        if words[0] == "load":
            values = numpy.fromfile(words[3])
            model = {"banana": Banana, "gauss": Gauss}[words[1]](xp, values, int(words[2]))
            methods, answer = Methods((Numpy if xp is numpy else Jax)(model), words[1]), ""
        elif words[0] == "chains":
            draws = methods.chains(words[1], int(words[2]))
            answer = f"{acceptance(draws)} {draws[:, :, 0].mean()}"
        else:
            theta = xp.ones(methods.model.dimension)
            answer = " ".join(map(str, methods.clipped_sum(theta, float(words[1]), methods.model.records) + methods.model.prior_gradient(theta)))
        print(time.perf_counter() - wall, time.process_time() - cpu, answer, flush=True)


if sys.argv[1] == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    xp = jax.numpy
else:
    xp = numpy
if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
    main()
