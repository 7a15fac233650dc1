//! Steps work in memory that was there before.

use allocation_counter::measure;
use organza_infer::tables::{
    CellWalk, CollapsedGibbs, CountModel, ExactCounts, IndependentCounts, OverlappingTables, RecordsPrior,
    TableEvidence, TablePrior,
};
use organza_mcmc::{ChainRng, Kernel};
use organza_release::CountFamily;

use crate::support::*;

fn allocations<T, K: Kernel<T>>(mut kernel: K, target: &T) -> u64 {
    let mut rng = ChainRng::new(42, 0);
    let mut state = kernel.init(target, &mut rng).unwrap();
    // Windows find their size.
    (0..50).for_each(|_| drop(kernel.step(target, &mut state, &mut rng).unwrap()));
    let info = measure(|| {
        for _ in 0..100 {
            let info = kernel.step(target, &mut state, &mut rng).unwrap();
            kernel.adapt(&state, &info);
        }
    });
    info.count_total
}

/// Seen to catch: a vector collected in a step.
#[test]
fn nothing_is_allocated_after_the_start() {
    let columns = [column("a", 2), column("b", 3)];
    let shown = || (noise(CountFamily::Laplace, 4.0), Some(40));
    let table = |party: &str| {
        release(
            party,
            &columns,
            &[&["a", "b"], &["b"]],
            &[9.0, 8.0, 3.0, 5.0, 6.0, 7.0, 14.0, 14.0, 10.0],
            shown(),
        )
    };
    let evidence = TableEvidence::new(&[table("one"), table("two")], false).unwrap();
    let (prior, records) = (TablePrior::default(), RecordsPrior::default());
    let model = CountModel::table(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations(CollapsedGibbs, &model), 0, "gibbs");
    let cells = OverlappingTables::new(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations(CellWalk::default(), &cells), 0, "metropolis");
    let evidence = TableEvidence::new(&[table("one")], false).unwrap();
    let model = CountModel::table(&evidence, &prior, &records).unwrap();
    assert_eq!(allocations(IndependentCounts, &ExactCounts::new(model).unwrap()), 0, "exact");
}
