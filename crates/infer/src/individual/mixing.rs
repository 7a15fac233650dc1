//! Parties share the parameters, so under much noise their moments move together: a reflection that takes one coordinate to the
//! common move of all parties leaves the others to their differences, and each has its own scale.

/// Reflects every coordinate of the blocks of all parties, in place; it is its own inverse and its own transpose.
pub(super) fn reflect(blocks: &mut [f64], parties: usize) {
    if parties < 2 {
        return;
    }
    let length = blocks.len() / parties;
    let share = 1.0 / (parties as f64).sqrt();
    // I - 2 v v'/v'v with v = (1, .., 1)/sqrt J - e_1 takes e_1 to (1, .., 1)/sqrt J; v'v = 2 (1 - 1/sqrt J).
    for place in 0..length {
        let sum: f64 = blocks[place..].iter().step_by(length).sum();
        let along = (share * sum - blocks[place]) / (1.0 - share);
        blocks[place..].iter_mut().step_by(length).for_each(|value| *value -= along * share);
        blocks[place] += along;
    }
}
