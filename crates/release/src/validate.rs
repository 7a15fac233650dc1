//! Checks beyond syntax: sizes agree, numbers are finite, scales are positive, entries are complete.

use crate::check::{
    Checked, fail, require, require_distinct, require_length, require_positive, require_printable,
};
use crate::document::Kind;
use crate::domain::{BallDomain, BoxDomain, Column, Domain, Interval};
use crate::noise::{Family, Noise};
use crate::privacy::{Neighbours, Norm, PrivacyLoss};
use crate::release::{Release, Tool};

/// Largest number of records: beyond it floating point cannot count.
pub const MOST_RECORDS: u64 = 1 << 53;
/// Scales and weights lie between one over this and this: 2^120, as fine as the finest lattice.
pub const LARGEST_SCALE: f64 = (1_u128 << 120) as f64;
/// A value may lie this many scales of its noise beyond what records can sum to: no noise is that far out.
pub const MOST_SCALES: f64 = 1e6;

impl Release {
    /// Checks that every field has a possible value and that the fields agree with each other.
    pub fn validate(&self) -> Checked {
        check_schema(Kind::Sums, &self.schema, &self.party)?;
        check_origin(&self.party, &self.created, &self.tool)?;
        self.domain.validate()?;
        self.privacy.check(self.noise.family)?;
        check_records(self.privacy.neighbours, self.records)?;
        self.check_statistic()?;
        let entries = self.statistic.weights(&self.domain).len();
        self.noise.check(entries)?;
        require_length("value", self.value.len(), entries)?;
        // No entry of a record's outer product exceeds 1, and no eigenvalue the trace.
        let most = self.records.unwrap_or(MOST_RECORDS) as f64 * self.domain.dimension() as f64;
        for (index, (value, scale)) in self.value.iter().zip(&self.noise.scales).enumerate() {
            let limit = most + MOST_SCALES * scale;
            require(value.is_finite(), format!("value[{index}]"), format!("must be finite, found {value}"))?;
            require(value.abs() <= limit, format!("value[{index}]"), {
                format!("must be at most {limit:e} from zero, by its records and its noise, found {value:e}")
            })?;
        }
        Ok(())
    }
}

/// A schema that this version cannot know is told apart from a wrong one.
pub(crate) fn check_schema(kind: Kind, schema: &str, party: &str) -> Checked {
    if kind.is_newer(schema) {
        return Err(kind.newer_schema(&format!("release of {party:?}"), schema));
    }
    let wanted = kind.newest_schema();
    require(schema == wanted, "schema", format!("must be {wanted:?}, found {schema:?}"))
}

/// Who published it, and when.
pub(crate) fn check_origin(party: &str, created: &str, tool: &Tool) -> Checked {
    require(!party.trim().is_empty(), "party", "must name the data holder")?;
    require_printable("party", party)?;
    require_printable("tool.name", &tool.name)?;
    require_printable("tool.version", &tool.version)?;
    require(is_timestamp(created), "created", "must be a UTC time like 2026-01-31T12:00:00Z")
}

/// The number of records is public exactly if neighbours exchange a record.
pub(crate) fn check_records(neighbours: Neighbours, records: Option<u64>) -> Checked {
    match (neighbours, records) {
        (Neighbours::Substitute, None) => {
            fail("records", "must be given: with substituted neighbours the number of records is public")
        }
        (Neighbours::AddRemove, Some(_)) => {
            fail("records", "must be null: with add-remove neighbours the number of records is confidential")
        }
        (_, Some(0)) => fail("records", "must be at least 1"),
        (_, Some(records)) if records > MOST_RECORDS => {
            fail("records", format!("{records} are more than {MOST_RECORDS}, the most that can be counted"))
        }
        _ => Ok(()),
    }
}

/// At least two different levels.
pub(crate) fn check_levels(field: &str, levels: &[String]) -> Checked {
    let names: Vec<&str> = levels.iter().map(String::as_str).collect();
    require(names.len() >= 2, format!("{field}.levels"), "must hold at least two levels")?;
    names.iter().try_for_each(|name| require_printable(&format!("{field}.levels"), name))?;
    require_distinct(&format!("{field}.levels"), &names)
}

impl Domain {
    /// Checks that every field has a possible value and that the fields agree with each other.
    pub fn validate(&self) -> Checked {
        let names = self.feature_names();
        require_printable("domain.formula", self.formula())?;
        require_printable("domain.response", self.response_name())?;
        names.iter().try_for_each(|name| require_printable("domain.features", name))?;
        require(
            !names.is_empty() || self.intercept(),
            "domain.features",
            "are empty and there is no intercept",
        )?;
        require_distinct("domain.features", &names)?;
        require(!names.contains(&self.response_name()), "domain.response", "is also among the features")?;
        let columns: Vec<&str> = self.columns().iter().map(Column::name).collect();
        require_distinct("domain.columns", &columns)?;
        for (index, column) in self.columns().iter().enumerate() {
            column.check(&format!("domain.columns[{index}]"))?;
        }
        require_moderate("domain.response_weight", self.response_weight())?;
        match self {
            Domain::Box(domain) => domain.check(),
            Domain::Ball(domain) => domain.check(),
        }
    }
}

impl BoxDomain {
    fn check(&self) -> Checked {
        require_moderate("domain.intercept_weight", self.intercept_weight)?;
        if let Some(radius) = self.record_scale {
            require_moderate("domain.record_scale", radius)?;
        }
        for (index, feature) in self.features.iter().enumerate() {
            feature.check(&format!("domain.features[{index}]"), self.intercept)?;
        }
        self.response.check("domain.response", self.intercept)
    }
}

impl BallDomain {
    fn check(&self) -> Checked {
        require_positive("domain.radius", self.radius)?;
        require_positive("domain.response_bound", self.response_bound)
    }
}

impl Interval {
    fn check(&self, field: &str, intercept: bool) -> Checked {
        require(!self.name.trim().is_empty(), format!("{field}.name"), "must not be empty")?;
        check_bounds(field, self.lower, self.upper)?;
        // A line through the origin stays one only if normalising does not shift.
        require(intercept || self.lower == -self.upper, format!("{field}.lower"), {
            "without an intercept bounds must be symmetric about zero"
        })
    }
}

impl Column {
    fn check(&self, field: &str) -> Checked {
        require(!self.name().trim().is_empty(), format!("{field}.name"), "must not be empty")?;
        require_printable(&format!("{field}.name"), self.name())?;
        match self {
            Column::Numeric { lower, upper, .. } => check_bounds(field, *lower, *upper),
            Column::Categorical { levels, .. } => check_levels(field, levels),
        }
    }
}

impl Noise {
    fn check(&self, entries: usize) -> Checked {
        require_length("noise.scales", self.scales.len(), entries)?;
        for (index, &scale) in self.scales.iter().enumerate() {
            require_moderate(&format!("noise.scales[{index}]"), scale)?;
        }
        require((-120..=0).contains(&self.lattice), "noise.lattice", {
            format!("must be an exponent of two from -120 to 0, found {}", self.lattice)
        })
    }
}

impl PrivacyLoss {
    pub(crate) fn check(&self, family: Family) -> Checked {
        require_positive("privacy.epsilon", self.epsilon)?;
        require_positive("privacy.sensitivity", self.sensitivity)?;
        let (norm, delta_fits, range) = match family {
            Family::Gaussian => (Norm::L2, self.delta > 0.0 && self.delta < 1.0, "between 0 and 1"),
            Family::Laplace => (Norm::L1, self.delta == 0.0, "0 for Laplace noise"),
        };
        require(delta_fits, "privacy.delta", format!("must be {range}, found {}", self.delta))?;
        require(
            self.norm == norm,
            "privacy.norm",
            format!("must be {norm:?} for {family:?} noise").to_lowercase(),
        )
    }
}

/// Positive, and neither so large nor so small that its powers overflow.
pub(crate) fn require_moderate(field: &str, number: f64) -> Checked {
    require_positive(field, number)?;
    let fits = (1.0 / LARGEST_SCALE..=LARGEST_SCALE).contains(&number);
    let (least, most) = (1.0 / LARGEST_SCALE, LARGEST_SCALE);
    require(fits, field, format!("must be between {least:.2e} and {most:.2e}, found {number:e}"))
}

fn check_bounds(field: &str, lower: f64, upper: f64) -> Checked {
    require(lower.is_finite(), format!("{field}.lower"), format!("must be finite, found {lower}"))?;
    require(upper.is_finite(), format!("{field}.upper"), format!("must be finite, found {upper}"))?;
    require(lower < upper, format!("{field}.lower"), format!("{lower} must be less than upper, {upper}"))
}

/// `2026-01-31T12:00:00Z`, with or without fractions of a second.
fn is_timestamp(text: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes();
    let fits = |(byte, mark): (&u8, &u8)| if *mark == b'd' { byte.is_ascii_digit() } else { byte == mark };
    bytes.len() > pattern.len()
        && bytes.iter().zip(pattern).all(fits)
        && bytes.ends_with(b"Z")
        && bytes[pattern.len()..bytes.len() - 1].iter().all(|byte| *byte == b'.' || byte.is_ascii_digit())
}
