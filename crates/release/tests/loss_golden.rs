//! The loss arithmetic against 60-digit values: see the head of golden/loss.csv for their provenance.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use organza_release::loss::{
    Composition, Mechanism, RELATIVE_ACCURACY, gaussian_delta, gaussian_epsilon, gaussian_mu, steps_within,
    zcdp_delta, zcdp_epsilon, zcdp_rho,
};

const TABLE: &str = include_str!("golden/loss.csv");

struct Row<'t> {
    quantity: &'t str,
    first: &'t str,
    second: f64,
    value: f64,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [quantity, first, second, value] = fields[..] else { panic!("not four fields: {line}") };
        Row { quantity, first, second: second.parse().unwrap(), value: value.parse().unwrap() }
    })
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// Checks all rows of one quantity, so many that a truncated table fails, and reports the worst of them.
fn check(quantity: &str, least_rows: usize, function: impl Fn(&str, f64) -> f64) {
    let mut count = 0;
    for row in rows().filter(|row| row.quantity == quantity) {
        let found = function(row.first, row.second);
        let error = if row.value == 0.0 { found } else { (found / row.value - 1.0).abs() };
        let Row { first, second, value, .. } = row;
        assert!(
            error <= RELATIVE_ACCURACY,
            "{quantity}({first}, {second:e}) = {found:e}, not {value:e}: relative error {error:e}"
        );
        count += 1;
    }
    assert!(count >= least_rows, "only {count} rows of {quantity}");
}

fn composition(words: &str) -> Composition {
    let mechanisms = words.split(' ').map(|word| {
        let (kind, values) = word.split_at(1);
        let mut values = values.split(':').map(number);
        let mut next = || values.next().unwrap();
        match kind {
            "g" => Mechanism::Gaussian { mu: next() },
            "p" => Mechanism::Pure { epsilon: next() },
            "a" => Mechanism::Approximate { epsilon: next(), delta: next() },
            _ => panic!("unknown mechanism: {word}"),
        }
    });
    Composition::of(mechanisms).unwrap()
}

#[test]
fn deltas_of_gaussian_noise() {
    check("gaussian_delta", 480, |epsilon, mu| gaussian_delta(number(epsilon), mu).unwrap());
}

#[test]
fn epsilons_of_gaussian_noise() {
    check("gaussian_epsilon", 80, |delta, mu| gaussian_epsilon(number(delta), mu).unwrap());
}

#[test]
fn calibration_of_gaussian_noise() {
    check("gaussian_mu", 80, |epsilon, delta| gaussian_mu(number(epsilon), delta).unwrap());
}

#[test]
fn conversions_of_concentrated_privacy() {
    check("zcdp_delta", 80, |rho, epsilon| zcdp_delta(number(rho), epsilon).unwrap());
    check("zcdp_epsilon", 80, |rho, delta| zcdp_epsilon(number(rho), delta).unwrap());
    check("zcdp_rho", 80, |epsilon, delta| zcdp_rho(number(epsilon), delta).unwrap());
}

/// Gaussian rows are exact; of mixtures the table has the basic composition, which is never exceeded.
#[test]
fn compositions() {
    let at_most = |words: &str, basic: f64, found: f64| {
        let exact = words.split(' ').all(|word| word.starts_with('g'));
        if exact || found > basic { found } else { basic }
    };
    let basic = |quantity: &str, words: &str, at: f64| {
        let same = |row: &Row| row.quantity == quantity && row.first == words && row.second == at;
        rows().find(same).unwrap().value
    };
    check("composition_delta", 24, |words, epsilon| {
        let found = composition(words).delta(epsilon).unwrap();
        at_most(words, basic("composition_delta", words, epsilon), found)
    });
    check("composition_epsilon", 12, |words, delta| {
        let found = composition(words).epsilon(delta).unwrap();
        at_most(words, basic("composition_epsilon", words, delta), found)
    });
}

#[test]
fn numbers_of_steps() {
    let mut count = 0;
    for row in rows() {
        let Some(mu_per_step) = row.quantity.strip_prefix("steps_") else { continue };
        let steps = steps_within(number(row.first), row.second, number(mu_per_step)).unwrap();
        assert_eq!(steps as f64, row.value, "{}({}, {:e})", row.quantity, row.first, row.second);
        count += 1;
    }
    assert!(count >= 320, "only {count} rows");
}

/// The iterations per chain that the budgets of \[RKH21\] section 4 buy: delta = 0.1 / n, n = 100,000, four
/// chains that share the budget. The reference code's tau is the paper's divided by sqrt(n), so one step of
/// tau has mu^2 = 1 / (n tau^2); an iteration of DP-HMC has one step for the ratio and L + 1 for the
/// gradients.
#[test]
fn iterations_of_the_experiments_of_rkh21() {
    let n = 100_000.0;
    let epsilons = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0];
    let penalty = |tau: f64| 1.0 / (n * tau * tau);
    let hmc = |tau: f64, tau_gradient: f64, leaps: f64| penalty(tau) + (leaps + 1.0) * penalty(tau_gradient);
    let published = [
        ("penalty, banana", penalty(0.17), [145, 507, 1034, 1694, 2467, 3337, 4795]),
        ("penalty, Gauss", penalty(0.05), [12, 43, 89, 146, 213, 288, 414]),
        ("HMC, banana", hmc(0.10, 0.55, 25.0), [27, 94, 192, 315, 459, 620, 892]),
        ("HMC, Gauss", hmc(0.10, 0.25, 12.0), [16, 56, 116, 190, 277, 374, 538]),
    ];
    for (name, mu_squared, expected) in published {
        let all_chains = (4.0 * mu_squared).sqrt();
        let found = epsilons.map(|epsilon| steps_within(epsilon, 0.1 / n, all_chains).unwrap());
        assert_eq!(found, expected, "{name}");
    }
}
