//! Reasons not to trust a summary, in words.

use crate::{End, ParameterSummary, Summary};

/// Above this R-hat chains disagree. \[VGSCB21\]
const LARGEST_R_HAT: f64 = 1.01;
/// Effective draws for each chain that diagnostics need to be reliable. \[VGSCB21\]
const LEAST_ESS: f64 = 100.0;
/// Below this E-BFMI a Hamiltonian chain explores energies slowly (Betancourt 2016, arXiv:1604.00695).
const LEAST_ENERGY_FRACTION: f64 = 0.3;

impl Summary {
    /// Reasons not to trust the draws, one sentence each; none if all is well.
    pub fn warnings(&self) -> Vec<String> {
        let least = LEAST_ESS * self.chains as f64;
        let wanted = format!("below {least} (100 for each chain): take more draws");
        let found = [
            self.too_few(),
            self.stopped(),
            self.undefined(),
            self.worst("R-hat", "above 1.01: the chains disagree; run longer", |row| {
                (row.r_hat > LARGEST_R_HAT).then(|| (row.r_hat, format!("{:.3}", row.r_hat)))
            }),
            self.worst("the effective size of the bulk", &wanted, |row| small(row.ess_bulk, least)),
            self.worst("the effective size of the tails", &wanted, |row| small(row.ess_tail, least)),
            self.diverged(),
            self.slow_energy(),
        ];
        found.into_iter().flatten().collect()
    }

    fn too_few(&self) -> Option<String> {
        let text = format!("chains have {} draws each; diagnostics need at least 4", self.draws);
        (self.draws < 4).then_some(text)
    }

    fn stopped(&self) -> Option<String> {
        let early = self.records.iter().filter(|record| record.end != End::Complete).count();
        let total: usize = self.records.iter().map(|record| record.draws).sum();
        let left_out = total - self.chains * self.draws;
        let text = format!(
            "{early} of {} chains stopped early; this uses {} chains of {} draws and leaves out {left_out}",
            self.records.len(),
            self.chains,
            self.draws,
        );
        (early > 0 || left_out > 0).then_some(text)
    }

    /// Parameters that never moved.
    fn undefined(&self) -> Option<String> {
        let names: Vec<&str> =
            self.parameters.iter().filter(|row| row.r_hat.is_nan()).map(|row| row.name.as_str()).collect();
        let first = names.first().filter(|_| self.draws >= 4)?;
        Some(format!("R-hat is undefined for {} ({first}): its draws are all equal", of(names.len(), self)))
    }

    /// The parameters for which `badness` finds something, described by the worst of them.
    fn worst(
        &self,
        what: &str,
        problem: &str,
        badness: impl Fn(&ParameterSummary) -> Option<(f64, String)>,
    ) -> Option<String> {
        let found = self.parameters.iter().filter_map(|row| badness(row).map(|bad| (row, bad)));
        let found: Vec<_> = found.collect();
        let (row, (_, shown)) = found.iter().max_by(|one, other| one.1.0.total_cmp(&other.1.0))?;
        Some(format!("{what} of {} (worst: {}, {shown}) is {problem}", of(found.len(), self), row.name))
    }

    fn diverged(&self) -> Option<String> {
        let count = self.divergences.filter(|count| *count > 0.0)?;
        Some(format!(
            "{count} steps diverged: the draws may miss a region; use smaller steps or another form"
        ))
    }

    fn slow_energy(&self) -> Option<String> {
        let slow = |fraction: &&f64| **fraction < LEAST_ENERGY_FRACTION;
        let count = self.energy_fractions.iter().filter(slow).count();
        let text = format!(
            "E-BFMI is below 0.3 in {count} of {} chains: heavy tails are explored slowly; use another form",
            self.energy_fractions.len()
        );
        (count > 0).then_some(text)
    }
}

fn of(count: usize, summary: &Summary) -> String {
    format!("{count} of {} parameters", summary.parameters.len())
}

fn small(size: f64, least: f64) -> Option<(f64, String)> {
    (size < least).then(|| (-size, format!("{size:.0}")))
}
