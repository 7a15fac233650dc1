//! Private chains beside a table, for a model of which no statistic suffices.

use organza::{BesideTable, Bounds, ChainDesign, Monitor, PrivateChains};

const BOUNDS: &str = "[age]\nlower = 20\nupper = 80\n[ill]\nlower = 0\nupper = 1";

/// From a table to draws.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let table = folder.path().join("people.csv");
    let ill = |k: u32| u32::from(k % 60 > (k * 7) % 90);
    let rows: String = (0..20_000).map(|k| format!("{},{}\n", 20 + k % 60, ill(k))).collect();
    std::fs::write(&table, format!("age,ill\n{rows}"))?;

    let bounds = Bounds::from_toml(BOUNDS, "bounds")?;
    let design = ChainDesign::new("logistic".parse()?, "ill ~ age".parse()?, bounds, 2.5)?;
    let mut chains = PrivateChains::new(BesideTable::new(&table)?, design, 4.0, 1e-6);
    chains.output = Some(folder.path().join("fit"));
    // Up to here nothing is read; up to `run` nothing is asked of the records, and nothing is charged.
    let ready = chains.prepare(&())?;
    println!("about {:.0} effective draws", ready.plan().effective_draws());
    let fit = ready.run(&Monitor::default())?;
    println!("{}", fit.summary);
    fit.notes().iter().chain(&fit.warnings()).for_each(|text| println!("{text}"));
    assert!(fit.paid.is_some() && folder.path().join("fit/summary.json").exists());
    Ok(())
}
