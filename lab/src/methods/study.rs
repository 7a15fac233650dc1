//! Three parties with tables of known truth, and their releases through the curator.

use std::fmt::Write as _;

use organza_curator::bounds::Bounds;
use organza_curator::job::Job;
use organza_curator::mechanism::{DomainChoice, Plan, RecordScale, Request, StatisticKind};
use organza_curator::table::{Input, ReadOptions};
use organza_release::Release;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};

use super::Failure;

/// Coefficients of the regression: intercept, uniform, skewed, binary.
pub const COEFFICIENTS: usize = 4;
const PARTIES: usize = 3;
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;
const FORMULA: &str = "y ~ uniform + skewed + binary";
const BOUNDS: &str = "[uniform]\nlower = 0\nupper = 10\n[skewed]\nlower = 0\nupper = 8\n[binary]\nlower = 0\nupper = 1\n\
                      [y]\nlower = -20\nupper = 20\n";

/// Tables of one replicate.
pub struct Study {
    folder: tempfile::TempDir,
    /// The coefficients, in users' units.
    pub truth: [f64; COEFFICIENTS],
}

impl Study {
    /// Simulates the tables.
    pub fn new(records: usize, seed: u64) -> Result<Self, Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let folder = tempfile::tempdir()?;
        let mut normal = |sd: f64| -> f64 { sd * Distribution::<f64>::sample(&StandardNormal, &mut rng) };
        let truth = [normal(2.0), normal(0.5), normal(1.0), normal(2.0)];
        for party in 0..PARTIES {
            let mut text = String::from("uniform,skewed,binary,y\n");
            for _ in 0..records {
                let x: [f64; 3] = [
                    rng.random_range(1.0..9.0),
                    Distribution::<f64>::sample(&Exp1, &mut rng),
                    f64::from(u8::from(rng.random::<f64>() < 0.3)),
                ];
                let noise: f64 = StandardNormal.sample(&mut rng);
                let y = truth[0] + truth[1] * x[0] + truth[2] * x[1] + truth[3] * x[2] + 2.0 * noise;
                writeln!(text, "{},{},{},{y}", x[0], x[1], x[2])?;
            }
            std::fs::write(folder.path().join(format!("{party}.csv")), text)?;
        }
        Ok(Self { folder, truth })
    }

    /// The default mechanism.
    pub fn releases(&self) -> Result<Vec<Release>, Failure> {
        (0..PARTIES).map(|party| self.publish(party, &request(EPSILON)?)).collect()
    }

    /// Unscaled records, half of the budget for the Gram matrix and half for the fourth moments.
    pub fn unscaled_releases(&self) -> Result<Vec<Release>, Failure> {
        let domain = DomainChoice::Box { record_scale: RecordScale::None, intercept_weight: None };
        let half = Request { domain, ..request(EPSILON / 2.0)? };
        let fourth = Request { statistic: StatisticKind::FourthMoments, ..half.clone() };
        let mut releases = Vec::new();
        for party in 0..PARTIES {
            releases.push(self.publish(party, &half)?);
            releases.push(self.publish(party, &fourth)?);
        }
        Ok(releases)
    }

    fn publish(&self, party: usize, request: &Request) -> Result<Release, Failure> {
        let job = Job {
            input: Input::File(self.folder.path().join(format!("{party}.csv"))),
            options: ReadOptions::default(),
            party: format!("party{party}"),
            output: self.folder.path().join("release.json"),
            overwrite: true,
            allow_weak_guarantee: true,
            batch_rows: None,
            ledger: None,
        };
        Ok(job.run(&Plan::new(request)?, &())?.release)
    }
}

fn request(epsilon: f64) -> Result<Request, Failure> {
    let delta = DELTA * epsilon / EPSILON;
    Ok(Request::new(FORMULA.parse()?, Bounds::from_toml(BOUNDS, "bounds")?, epsilon, delta))
}
