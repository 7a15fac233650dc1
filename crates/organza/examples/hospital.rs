//! Two hospitals publish, an analyst fits what they published, keeps the fit and predicts: all of it at the facade.

use organza::{
    BesideTable, Bounds, FitFolder, MethodSpec, ModelSpec, Monitor, Plan, Reading, ReleaseSet, Request,
    SavedFit, Settings, fit,
};

const BOUNDS: &str = "[age]\nlower = 20\nupper = 90\n[stay]\nlower = 0\nupper = 30";

/// From tables to predictions.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let (published, kept) = (folder.path().join("published"), folder.path().join("fit"));
    std::fs::create_dir(&published)?;

    // Each hospital, on its own: the party, the data set and the ledger take their names from the table.
    for (hospital, first) in [("north", 20), ("south", 30)] {
        let stays = (0..3000).map(|k| (first + k % 60, 2 + (first + k % 60) / 6 + k % 5));
        let rows: String = stays.map(|(age, stay)| format!("{age},{stay}\n")).collect();
        let table = folder.path().join(format!("{hospital}.csv"));
        std::fs::write(&table, format!("age,stay\n{rows}"))?;
        let request = Request::new("stay ~ age".parse()?, Bounds::from_toml(BOUNDS, "bounds")?, 1.0, 1e-6);
        let job = BesideTable::new(&table)?.job(published.join(format!("{hospital}.json")))?;
        let outcome = job.run(&job.plan(&request, &())?, &())?;
        assert!(outcome.release.claim()?.holds);
    }

    // The analyst sees the published files and nothing else.
    let releases = ReleaseSet::read([&published])?;
    let mut settings = Settings::new(MethodSpec::default(), ModelSpec::default(), Plan::default());
    let fitted = fit(&settings.method, &settings.model, &releases, &settings.plan, &Monitor::default())?;
    println!("{}", fitted.summary);
    settings.keep_choices(&fitted);
    FitFolder::create(&kept, false)?.finish(&fitted.draws, &fitted, &settings)?;

    let patients = folder.path().join("patients.csv");
    std::fs::write(&patients, "age\n35\n80\n")?;
    let BesideTable { input, options, .. } = BesideTable::new(&patients)?;
    let reading = Reading { input: &input, options: &options, progress: &() };
    let predicted = SavedFit::open(&kept)?.predict(&reading, 0.95, false)?;
    println!("{}", predicted.to_csv());
    assert_eq!(predicted.predictions.len(), 2);
    Ok(())
}
