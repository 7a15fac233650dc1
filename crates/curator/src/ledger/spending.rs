//! The arithmetic of the ledger: does one more charge fit?

use super::account::{Budget, Preview, Spent};
use super::charge::{Charge, ChargeRecord};
use super::error::LedgerError;
use organza_release::Neighbours;
use organza_release::loss::{Composition, LossError, Mechanism, lattice_delta};

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
    /// Published or only reserved, every charge counts, as a loss between neighbours of one kind.
    pub(super) fn of<'c>(
        charges: impl IntoIterator<Item = &'c Charge>,
        neighbours: Neighbours,
    ) -> Result<Self, LedgerError> {
        charges.into_iter().try_fold(Self::default(), |spending, charge| {
            let mechanism = match (charge.neighbours, neighbours) {
                (Some(same), wanted) if same == wanted => charge.mechanism,
                // Of a charge whose relation is not known the larger loss is counted.
                (_, Neighbours::Substitute) => charge.mechanism.for_exchanged_records(),
                (_, Neighbours::AddRemove) => return Err(LedgerError::NumberIsPublic),
            };
            Ok(spending.with(mechanism, charge.total_variation)?)
        })
    }

    pub(super) fn with(mut self, mechanism: Mechanism, total_variation: f64) -> Result<Self, LossError> {
        self.composition.push(mechanism)?;
        self.total_variation += total_variation;
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

    /// What is spent.
    pub(super) fn spent(&self, budget: Budget) -> Result<Spent, LossError> {
        let epsilon = self.epsilon(loosened(budget.delta).min(1.0 - f64::EPSILON))?;
        let lattice = lattice_delta(budget.epsilon, self.total_variation);
        let delta = (self.composition.delta(loosened(budget.epsilon))? + lattice).min(1.0);
        // What is private at a smaller epsilon is so at the budget's, where the lattice's term may be far larger.
        let at_epsilon = epsilon.is_some_and(|epsilon| epsilon <= budget.epsilon);
        Ok(Spent { epsilon, delta: if at_epsilon { delta.min(budget.delta) } else { delta } })
    }

    /// The smallest epsilon at which the composition and the lattice together stay within `delta`.
    ///
    /// The lattice's term grows with epsilon, so it is taken at the epsilon that it leads to: the search goes up from the
    /// composition's own epsilon and ends where it no longer moves.
    pub(super) fn epsilon(&self, delta: f64) -> Result<Option<f64>, LossError> {
        let mut found = 0.0;
        loop {
            let remaining = delta - lattice_delta(loosened(found), self.total_variation);
            if remaining < 0.0 {
                return Ok(None);
            }
            let next = match self.composition.epsilon(remaining) {
                Err(LossError::DeltaTooSmall { .. }) => return Ok(None),
                other => other?,
            };
            if next <= loosened(found) {
                return Ok(Some(next));
            }
            found = next;
        }
    }
}

fn loosened(limit: f64) -> f64 {
    (limit * (1.0 + SLACK)).min(f64::MAX)
}

/// What `charge` would do after the `earlier` ones; without a budget its claim becomes the budget, and the first charge
/// says which tables are neighbours.
pub(super) fn preview(
    known: Option<Budget>,
    relation: Option<Neighbours>,
    earlier: &[ChargeRecord],
    charge: &Charge,
) -> Result<Preview, LedgerError> {
    let budget = known.unwrap_or(charge.claim());
    let neighbours = relation.or(charge.neighbours).unwrap_or(Neighbours::Substitute);
    let earlier = || earlier.iter().map(|record| &record.charge);
    let after = Spending::of(earlier().chain([charge]), neighbours)?;
    let spent_after = after.spent(budget)?;
    Ok(Preview {
        budget,
        budget_would_be_set: known.is_none(),
        spent_before: Spending::of(earlier(), neighbours)?.spent(budget)?,
        spent_after,
        neighbours,
        fits: after.is_within(budget, &spent_after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use organza_release::loss::{Mechanism, gaussian_delta, gaussian_mu};

    fn charge(mechanism: Mechanism, total_variation: f64) -> Charge {
        let (neighbours, description) = (Some(Neighbours::Substitute), String::new());
        Charge {
            mechanism,
            total_variation,
            neighbours,
            claimed_epsilon: 1.0,
            claimed_delta: 1e-6,
            description,
        }
    }

    fn spending(charges: &[Charge]) -> Spending {
        Spending::of(charges, Neighbours::Substitute).unwrap()
    }

    /// Catches a lattice term that is taken at the budget's epsilon: (1 + e^35) times any total variation is above 1.
    #[test]
    fn a_large_budget_takes_a_small_release() {
        let (epsilon, delta) = (1.0, 1e-7);
        let small = charge(Mechanism::Gaussian { mu: gaussian_mu(epsilon, 0.99 * delta).unwrap() }, 1e-16);
        let spent =
            spending(std::slice::from_ref(&small)).spent(Budget { epsilon: 35.0, delta: 1e-6 }).unwrap();
        assert!(spent.epsilon.unwrap() < 1.0 && spent.delta <= 1e-6, "{spent:?}");
        // And it is no way to get around a budget: the lattice counts at the epsilon that is reached.
        let coarse = charge(Mechanism::Gaussian { mu: gaussian_mu(epsilon, delta).unwrap() }, 1e-3);
        assert!(!spending(&[coarse]).fits(Budget { epsilon: 35.0, delta: 1e-6 }).unwrap());
    }

    /// Catches losses of different relations that are added as they are.
    #[test]
    fn what_protects_added_records_protects_exchanged_ones_half_as_well() {
        let pure = |neighbours| Charge {
            neighbours,
            claimed_delta: 0.0,
            ..charge(Mechanism::Pure { epsilon: 1.0 }, 0.0)
        };
        let both = [pure(Some(Neighbours::AddRemove)), pure(Some(Neighbours::Substitute))];
        let budget = Budget { epsilon: 3.0, delta: 0.0 };
        let spent = |charges: &[Charge]| {
            Spending::of(charges, Neighbours::Substitute).unwrap().spent(budget).unwrap().epsilon.unwrap()
        };
        assert!((spent(&both) - 3.0).abs() < 1e-9);
        assert!((spent(&[pure(None)]) - 2.0).abs() < 1e-9, "not known counts as the larger loss");
        assert!(matches!(Spending::of(&both, Neighbours::AddRemove), Err(LedgerError::NumberIsPublic)));
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
        let whole = gaussian_delta(epsilon, mu).unwrap() + lattice_delta(epsilon, 0.5 * room);
        assert!((whole / 1e-6 - 1.0).abs() < 1e-6, "{epsilon}");
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
