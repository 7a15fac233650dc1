//! Edits of a JSON document that leave it looking valid.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

const NUMBERS: [f64; 14] =
    [0.0, -1.0, 1.0, 1e-300, 5e-324, 1e300, -1e300, 1.8e19, 1e9, 1e15, -1e15, 0.5, 3.0, 1e-9];
const WHOLE: [u64; 9] = [0, 1, 2, 3, 7, 1_000_000, 1 << 40, 1 << 63, u64::MAX];
const WORDS: [&str; 16] = [
    "substitute",
    "add-remove",
    "gaussian",
    "laplace",
    "discrete-laplace",
    "discrete-gaussian",
    "isometric",
    "upper",
    "l1",
    "l2",
    "gram",
    "refused",
    "9999-12-31T23:59:59Z",
    "0000-00-00T00:00:00Z",
    "",
    "north",
];

/// One to three edits of a document, or of some of a batch in lines; none if the bytes are neither.
pub fn edited(file: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut values: Vec<Value> = match serde_json::from_slice(file) {
        Ok(value) => vec![value],
        Err(_) => lines.map(|line| serde_json::from_slice(line).ok()).collect::<Option<_>>()?,
    };
    for _ in 0..rng.random_range(1..=3) {
        let place = rng.random_range(0..values.len().max(1));
        edit(values.get_mut(place)?, &mut rng);
    }
    Some(values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes())
}

/// Edits a file behind its first byte, in place, or changes that byte; none if it is no document or becomes too long.
pub fn in_place(data: &mut [u8], size: usize, most: usize, seed: u32) -> Option<usize> {
    let (choice, file) = data.split_first_mut()?;
    if seed.is_multiple_of(8) {
        *choice = (seed >> 8) as u8;
        return Some(size);
    }
    let bytes = edited(file.get(..size.checked_sub(1)?)?, u64::from(seed))?;
    let place = file.get_mut(..bytes.len()).filter(|place| place.len() < most)?;
    place.copy_from_slice(&bytes);
    Some(1 + bytes.len())
}

fn edit(document: &mut Value, rng: &mut ChaCha8Rng) {
    if rng.random_bool(0.5) {
        let changed = known(document, rng);
        if changed.is_some() {
            return;
        }
    }
    let mut paths = Vec::new();
    all_paths(document, String::new(), &mut paths);
    let path = &paths[rng.random_range(0..paths.len())];
    let other = document.pointer(&paths[rng.random_range(0..paths.len())]).cloned().unwrap_or_default();
    // A name with a slash has no pointer.
    let Some(node) = document.pointer_mut(path) else { return };
    match node {
        Value::Array(items) if !items.is_empty() => {
            let at = rng.random_range(0..items.len());
            match rng.random_range(0..4) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                2 => items.swap(0, at),
                _ => items.fill(number(rng)),
            }
        }
        Value::Number(_) => *node = number(rng),
        Value::String(text) => *text = WORDS[rng.random_range(0..WORDS.len())].into(),
        Value::Bool(truth) => *truth = !*truth,
        _ => *node = other,
    }
}

fn number(rng: &mut ChaCha8Rng) -> Value {
    match rng.random_bool(0.3) {
        true => json!(WHOLE[rng.random_range(0..WHOLE.len())]),
        false => json!(NUMBERS[rng.random_range(0..NUMBERS.len())]),
    }
}

/// Fields that decide on sizes and scales, changed so that the document stays consistent; none if it has no such field.
fn known(document: &mut Value, rng: &mut ChaCha8Rng) -> Option<()> {
    let new = number(rng);
    match rng.random_range(0..9) {
        0 => {
            let records = document.pointer_mut("/records").filter(|records| records.is_number())?;
            *records = json!(WHOLE[rng.random_range(1..WHOLE.len())]);
        }
        1 => document.pointer_mut("/noise/scales")?.as_array_mut()?.fill(new),
        2 => *document.pointer_mut("/noise/scale")? = new,
        3 => {
            let factor = NUMBERS[rng.random_range(0..NUMBERS.len())];
            let scale = |value: &mut Value| *value = json!((value.as_f64().unwrap_or(0.0) * factor).trunc());
            document.pointer_mut("/value")?.as_array_mut()?.iter_mut().for_each(scale);
        }
        4 => document.pointer_mut("/value")?.as_array_mut()?.fill(new),
        5 => {
            let field = ["response_weight", "intercept_weight", "record_scale", "radius", "response_bound"];
            *document.pointer_mut(&format!("/domain/{}", field[rng.random_range(0..5)]))? = new;
        }
        6 => {
            let centre = NUMBERS[rng.random_range(0..NUMBERS.len())];
            let width = [1.0, 1e-12 * centre.abs(), 1e-300, 1e300, centre.abs()][rng.random_range(0..5)];
            let bounds = json!({ "lower": centre - width, "upper": centre + width });
            let place = ["/domain/response", "/domain/features/0"][rng.random_range(0..2)];
            let interval = document.pointer_mut(place)?.as_object_mut()?;
            interval.extend(bounds.as_object()?.clone());
        }
        7 => {
            let field = ["epsilon", "delta", "sensitivity"][rng.random_range(0..3)];
            *document.pointer_mut(&format!("/privacy/{field}"))? = new;
        }
        _ => {
            *document.pointer_mut("/answers/0/truth")? =
                json!([1e-300, 0.5, 0.25, 1.0 - 1e-16][rng.random_range(0..4)])
        }
    }
    Some(())
}

fn all_paths(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(k, item)| all_paths(item, format!("{path}/{k}"), paths))
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| all_paths(field, format!("{path}/{name}"), paths))
        }
        _ => {}
    }
    paths.push(path);
}
