//! The arithmetic of the ledger: does one more charge fit?

use super::account::{Budget, Preview, Spent};
use super::charge::{Charge, ChargeRecord};
use super::error::LedgerError;
use organza_release::loss::{Composition, LossError, lattice_delta};

/// Relative slack of every comparison with a budget: for rounding, so that ten charges of 0.1 fit into 1.
const SLACK: f64 = 1e-9;

/// Everything that an account has spent.
#[derive(Debug, Clone, Default)]
pub(super) struct Spending {
    composition: Composition,
    /// Total variation is subadditive over composition, so the corrections of all charges add.
    total_variation: f64,
}

impl Spending {
    /// Published or only reserved, every charge counts.
    pub(super) fn of(records: &[ChargeRecord]) -> Result<Self, LossError> {
        records.iter().try_fold(Self::default(), |spending, record| spending.with(&record.charge))
    }

    pub(super) fn with(mut self, charge: &Charge) -> Result<Self, LossError> {
        self.composition.push(charge.mechanism)?;
        self.total_variation += charge.total_variation;
        Ok(self)
    }

    /// Whether the whole is (epsilon, delta)-private for the epsilon and delta of the budget.
    pub(super) fn fits(&self, budget: Budget) -> Result<bool, LossError> {
        Ok(self.is_within(budget, &self.spent(budget)?))
    }

    /// The same from what is spent. Epsilon and delta are bounds that are found in different ways: either decides.
    fn is_within(&self, budget: Budget, spent: &Spent) -> bool {
        // Gaussian noise has a positive delta at every epsilon, also where it underflows.
        let needs_delta = self.composition.needs_delta() && budget.delta == 0.0;
        let by_epsilon = spent.epsilon.is_some_and(|epsilon| epsilon <= loosened(budget.epsilon));
        !needs_delta && (by_epsilon || spent.delta <= loosened(budget.delta))
    }

    /// What is spent. The lattice correction is taken at the budget's epsilon, so for a charge that does not
    /// fit the epsilon leaves out the (minute) part of it that belongs to the excess.
    pub(super) fn spent(&self, budget: Budget) -> Result<Spent, LossError> {
        let lattice = lattice_delta(budget.epsilon, self.total_variation);
        let remaining = loosened(budget.delta).min(1.0 - f64::EPSILON) - lattice;
        let epsilon = match remaining >= 0.0 {
            true => match self.composition.epsilon(remaining) {
                Err(LossError::DeltaTooSmall { .. }) => None,
                other => Some(other?),
            },
            false => None,
        };
        let composed = self.composition.delta(loosened(budget.epsilon))?;
        Ok(Spent { epsilon, delta: (composed + lattice).min(1.0) })
    }
}

fn loosened(limit: f64) -> f64 {
    (limit * (1.0 + SLACK)).min(f64::MAX)
}

/// What `charge` would do after the `earlier` ones; without a budget its claim becomes the budget.
pub(super) fn preview(
    known: Option<Budget>,
    earlier: &[ChargeRecord],
    charge: &Charge,
) -> Result<Preview, LedgerError> {
    let budget = known.unwrap_or(charge.claim());
    let before = Spending::of(earlier)?;
    let after = before.clone().with(charge)?;
    let spent_after = after.spent(budget)?;
    Ok(Preview {
        budget,
        budget_would_be_set: known.is_none(),
        spent_before: before.spent(budget)?,
        spent_after,
        fits: after.is_within(budget, &spent_after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_release::loss::{Mechanism, gaussian_delta, gaussian_mu};

    fn charge(mechanism: Mechanism, total_variation: f64) -> Charge {
        let description = String::new();
        Charge { mechanism, total_variation, claimed_epsilon: 1.0, claimed_delta: 1e-6, description }
    }

    fn spending(charges: &[Charge]) -> Spending {
        charges.iter().try_fold(Spending::default(), Spending::with).unwrap()
    }

    #[test]
    fn a_charge_that_is_the_budget_fits_and_no_more() {
        for (epsilon, delta) in [(1e-3, 1e-15), (1.0, 1e-6), (50.0, 0.1)] {
            let budget = Budget { epsilon, delta };
            let exact = charge(Mechanism::Gaussian { mu: gaussian_mu(epsilon, delta).unwrap() }, 0.0);
            let alone = spending(std::slice::from_ref(&exact));
            let spent = alone.spent(budget).unwrap().epsilon.unwrap();
            assert!(alone.fits(budget).unwrap());
            assert!((spent / epsilon - 1.0).abs() < 1e-6, "{spent}");
            let tiny = charge(Mechanism::Gaussian { mu: 1e-3 * gaussian_mu(epsilon, delta).unwrap() }, 0.0);
            assert!(!spending(&[exact, tiny]).fits(budget).unwrap());
        }
    }

    #[test]
    fn tenths_fit_into_a_whole_without_a_delta() {
        let tenth = charge(Mechanism::Pure { epsilon: 0.1 }, 0.0);
        for (count, epsilon) in [(3, 0.3), (7, 0.7), (10, 1.0)] {
            let budget = Budget { epsilon, delta: 0.0 };
            assert!(spending(&vec![tenth.clone(); count]).fits(budget).unwrap(), "{count}");
            assert!(!spending(&vec![tenth.clone(); count + 1]).fits(budget).unwrap(), "{count} and one");
        }
    }

    #[test]
    fn the_lattice_is_paid_from_delta() {
        let budget = Budget { epsilon: 1.0, delta: 1e-6 };
        let mechanism = Mechanism::Gaussian { mu: gaussian_mu(1.0, 0.9e-6).unwrap() };
        let room = 0.1e-6 / (1.0 + 1f64.exp());
        assert!(spending(&[charge(mechanism, 0.999 * room)]).fits(budget).unwrap());
        assert!(!spending(&[charge(mechanism, 1.001 * room)]).fits(budget).unwrap());
        let spent = spending(&[charge(mechanism, 0.5 * room)]).spent(budget).unwrap();
        assert!((spent.delta / 0.95e-6 - 1.0).abs() < 1e-6, "{}", spent.delta);
        let Mechanism::Gaussian { mu } = mechanism else { panic!() };
        let epsilon = spent.epsilon.unwrap();
        assert!((gaussian_delta(epsilon, mu).unwrap() / 0.95e-6 - 1.0).abs() < 1e-6, "{epsilon}");
    }

    #[test]
    fn the_corrections_of_all_charges_add() {
        let mechanism = Mechanism::Gaussian { mu: 1e-3 };
        let budget = Budget { epsilon: 0.0, delta: 1e-3 };
        let delta = |corrections: &[f64]| {
            let charges: Vec<Charge> = corrections.iter().map(|&value| charge(mechanism, value)).collect();
            spending(&charges).spent(budget).unwrap().delta
        };
        let added = delta(&[1e-5, 2e-5, 4e-5]) - delta(&[0.0; 3]);
        assert!((added - 2.0 * 7e-5).abs() < 1e-15, "{added}"); // 1 + e^0 = 2
    }

    /// Catches epsilons that are merely added: a hundred pure charges of 0.1 with a delta, and counts beside a release of sums.
    #[test]
    fn mixtures_are_composed_by_their_losses() {
        let epsilon = |mechanism: &[Mechanism], delta: f64| {
            let charges: Vec<Charge> = mechanism.iter().map(|&one| charge(one, 0.0)).collect();
            spending(&charges).spent(Budget { epsilon: 10.0, delta }).unwrap().epsilon.unwrap()
        };
        let tenths = vec![Mechanism::Pure { epsilon: 0.1 }; 100];
        assert!(epsilon(&tenths, 1e-6) < 5.0 && epsilon(&tenths, 0.0) > 9.99);
        let sums = Mechanism::Gaussian { mu: gaussian_mu(1.0, 1e-6).unwrap() };
        let counts = Mechanism::DiscreteGaussian { scale: 10.0, moved: 2 };
        let (both, alone) = (epsilon(&[sums, counts], 1e-6), epsilon(&[counts], 1e-6));
        let like = (gaussian_mu(1.0, 1e-6).unwrap().powi(2) + 0.02).sqrt();
        assert!(gaussian_delta(both * (1.0 + 2e-3), like).unwrap() < 1e-6 && both < alone + 0.95);
    }

    #[test]
    fn gaussian_noise_never_fits_without_a_delta() {
        let budget = Budget { epsilon: 100.0, delta: 0.0 };
        let spending = spending(&[charge(Mechanism::Gaussian { mu: 0.01 }, 0.0)]);
        assert_eq!(gaussian_delta(100.0, 0.01).unwrap(), 0.0, "the case of interest is underflow");
        assert!(!spending.fits(budget).unwrap());
        assert_eq!(spending.spent(budget).unwrap().epsilon, None);
    }
}
