//! The whole mechanism with a known noise source, and its claims.

use dashu_ratio::RBig;
use organza_release::loss::{Composition, Mechanism, gaussian_mu};
use organza_release::{CountFamily, Neighbours};

use super::{BoundsPlan, BoundsRequest, ExactValues, combine, share_of, template};
use crate::CuratorError;
use crate::bounds::{Bounds, ColumnBounds};
use crate::counts::CountSource;
use crate::formula::BlockColumns;
use crate::table::{Input, ReadOptions};

/// Remembers what was asked for and draws nothing.
#[derive(Default)]
struct Silent {
    asked: Vec<f64>,
}

impl CountSource for Silent {
    fn draw(&mut self, family: CountFamily, scale: f64) -> Result<i128, CuratorError> {
        assert!(matches!(family, CountFamily::DiscreteLaplace | CountFamily::DiscreteGaussian));
        self.asked.push(scale);
        Ok(0)
    }
}

fn plan(columns: &[&str], epsilon: f64, neighbours: Neighbours) -> BoundsPlan {
    let columns = columns.iter().map(|name| name.to_string()).collect();
    BoundsPlan::new(&BoundsRequest { columns, epsilon, delta: 0.0, neighbours }).unwrap()
}

fn counted(columns: &[&[f64]]) -> ExactValues {
    let mut exact = ExactValues::new(columns.len());
    exact.add(&BlockColumns { numeric: columns, categorical: &[] }).unwrap();
    exact
}

/// Catches a budget that is spent twice: in exact arithmetic, columns and rounds add up to epsilon at most.
#[test]
fn losses_of_all_counts_add_up_to_epsilon() {
    for neighbours in [Neighbours::Substitute, Neighbours::AddRemove] {
        for epsilon in [0.1, 1.0 / 3.0, 1.0, 7.3] {
            for count in [1, 2, 5] {
                let names: Vec<String> = (0..count).map(|index| format!("x{index}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (first, second) = plan(&names, epsilon, neighbours).scales();
                let exact = |number: f64| RBig::try_from(number).unwrap();
                let moved = RBig::from(if neighbours == Neighbours::Substitute { 2 } else { 1 } * count);
                let spent = moved.clone() / exact(first) + moved / exact(second);
                assert!(spent <= exact(epsilon), "{epsilon} {count}: {spent}");
                assert!(spent > exact(0.83 * epsilon), "{epsilon} {count}: {spent}");
            }
        }
    }
}

/// Catches a share that spends more than it leaves, or far less, and rounds or columns that are not charged.
#[test]
fn a_share_leaves_the_rest_of_the_budget() {
    for (epsilon, delta, share) in [(1.0, 1e-6, 0.1), (0.3, 1e-5, 0.1), (10.0, 1e-6, 0.1), (3.0, 1e-8, 0.5)] {
        for neighbours in [Neighbours::Substitute, Neighbours::AddRemove] {
            let columns = ["a", "b", "c"].map(String::from).to_vec();
            let spent = share_of((epsilon, delta), share).unwrap();
            let plan =
                BoundsPlan::new(&BoundsRequest { columns, epsilon: spent, delta, neighbours }).unwrap();
            let Mechanism::DiscreteGaussian { scale, moved } = plan.charge().mechanism else { panic!() };
            assert_eq!((scale, scale), plan.scales());
            assert_eq!(moved, if neighbours == Neighbours::Substitute { 12 } else { 6 });
            let release = Mechanism::Gaussian { mu: gaussian_mu((1.0 - share) * epsilon, delta).unwrap() };
            let total =
                Composition::of([plan.charge().mechanism, release]).unwrap().epsilon_bounds(delta).unwrap();
            assert!(total.upper <= epsilon && total.upper > 0.995 * epsilon, "{epsilon}: {total:?}");
        }
    }
    for share in [0.0, 1.0, f64::NAN] {
        assert!(share_of((1.0, 1e-6), share).unwrap_err().to_string().contains("`share`"));
    }
}

/// Catches a record that is counted in two cells of a grid, or in none: exchanging one moves two counts by one in each
/// round.
#[test]
fn a_record_is_in_one_cell_of_each_round() {
    let plan = plan(&["x"], 1e4, Neighbours::Substitute);
    let base: Vec<f64> = (0..2000).map(|index| 1990.0 + f64::from(index % 30)).collect();
    let found = |values: &[f64]| {
        plan.publish_with(&counted(&[values]), "p", &mut Silent::default()).unwrap().columns.remove(0)
    };
    let before = found(&base);
    for other in [0.0, -5.0, 1e-30, -1e300, 1995.5, 2047.0, 2048.0] {
        let mut values = base.clone();
        values[7] = other;
        let after = found(&values);
        let moved = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
        assert!(moved(&before.scales.counts, &after.scales.counts) <= 2.0, "{other}");
        let ((range, one), (same, two)) = (before.linear.clone().unwrap(), after.linear.unwrap());
        if range == same {
            assert!(moved(&one.counts, &two.counts) <= 2.0, "{other}");
        }
        assert_eq!((one.counts.iter().sum::<f64>(), two.counts.iter().sum::<f64>()), (2000.0, 2000.0));
    }
}

/// Catches noise that skips empty cells, and bounds that are the exact extremes or far from them.
#[test]
fn bounds_are_near_and_every_cell_gets_noise() {
    let year: Vec<f64> = (0..4000).map(|index| 1990.37 + f64::from(index % 29)).collect();
    let answer: Vec<f64> = (0..4000).map(|index| f64::from(index % 2)).collect();
    let plan = plan(&["year", "answer"], 1.0, Neighbours::Substitute);
    let mut noise = Silent::default();
    let bounds = plan.publish_with(&counted(&[&year, &answer]), "north", &mut noise).unwrap();
    let asked: usize = bounds
        .columns
        .iter()
        .map(|c| c.scales.counts.len() + c.linear.as_ref().unwrap().1.counts.len())
        .sum();
    assert_eq!(noise.asked.len(), asked);
    for (column, (least, most)) in bounds.columns.iter().zip([(1990.37, 2018.37), (0.0, 1.0)]) {
        let (lower, upper) = column.range.unwrap();
        assert!(lower < least + 0.1 && upper > most - 0.1, "{} {lower} {upper}", column.name);
    }
    let (lower, upper) = bounds.columns[0].range.unwrap();
    assert!(upper - lower < 40.0, "{lower} {upper}");
    let text = bounds.to_toml().unwrap();
    assert!(text.contains("epsilon = 1, delta = 0") && text.contains("party \"north\""), "{text}");
    let read = Bounds::from_toml(&text, "b").unwrap();
    assert_eq!(read.column("year"), Some(&ColumnBounds::Numeric { lower, upper }));
}

#[test]
fn a_hidden_column_is_left_to_a_person() {
    let plan = plan(&["x"], 0.01, Neighbours::Substitute);
    let bounds = plan.publish_with(&counted(&[&[1.0; 50]]), "p", &mut Silent::default()).unwrap();
    assert_eq!(bounds.hidden(), ["x"]);
    let text = bounds.to_toml().unwrap();
    assert!(text.contains("[x]   # noise hides this column"), "{text}");
    assert!(Bounds::from_toml(&text, "b").unwrap_err().to_string().contains("b:6"), "{text}");
}

#[test]
fn parties_have_common_bounds() {
    let read = |text: &str| (text.to_string(), Bounds::from_toml(text, "b").unwrap());
    let one = read("[x]\nlower = 0\nupper = 5\n[s]\nlevels = [\"a\", \"b\"]\n");
    let two = read("[x]\nlower = 1\nupper = 9\n[y]\nlower = 0\nupper = 1\n[s]\nlevels = [\"a\", \"b\"]\n");
    let common = combine(&[one.clone(), two]).unwrap();
    assert_eq!(common.column("x"), Some(&ColumnBounds::Numeric { lower: 0.0, upper: 9.0 }));
    assert_eq!(common.columns().count(), 3);
    let other = read("[s]\nlevels = [\"b\", \"a\"]\n");
    assert!(combine(&[one, other]).unwrap_err().to_string().contains("other levels"));
}

#[test]
fn a_template_has_names_and_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "age,\"log(x)\",site\n41.5,7,north\n").unwrap();
    let text = template(&Input::File(path.clone()), &ReadOptions::default()).unwrap();
    for part in ["\n[age]\n", "\n[\"`log(x)`\"]\n", "\n[site]\n", "# lower = "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("41") && !text.contains("north"), "{text}");
    let error = Bounds::from_toml(&text, "bounds.toml").unwrap_err().to_string();
    assert!(error.contains("bounds.toml:4"), "{error}");
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let text = template(&Input::File(path), &options).unwrap();
    assert!(text.contains("[c3]") && !text.contains("age"), "{text}");
}
