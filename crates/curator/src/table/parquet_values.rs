//! Values of Parquet's own types as numbers and as text; nothing of what they cannot be read as.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTemporalType, Date32Type, Decimal128Type, Decimal256Type, DecimalType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, Float64Array, PrimitiveArray, StringArray};
use arrow_schema::{DataType, TimeUnit};

/// A column as numbers.
pub(super) fn numbers(array: &dyn Array) -> Option<Float64Array> {
    Some(match array.data_type() {
        DataType::Null => Float64Array::new_null(array.len()),
        DataType::Boolean => {
            array.as_boolean().iter().map(|bit| bit.map(|bit| f64::from(u8::from(bit)))).collect()
        }
        DataType::Float64 => array.as_primitive::<Float64Type>().clone(),
        DataType::Float32 => each::<Float32Type>(array, f64::from),
        DataType::Float16 => each::<Float16Type>(array, f64::from),
        DataType::Int8 => each::<Int8Type>(array, f64::from),
        DataType::Int16 => each::<Int16Type>(array, f64::from),
        DataType::Int32 => each::<Int32Type>(array, f64::from),
        DataType::Int64 => each::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => each::<UInt8Type>(array, f64::from),
        DataType::UInt16 => each::<UInt16Type>(array, f64::from),
        DataType::UInt32 => each::<UInt32Type>(array, f64::from),
        DataType::UInt64 => each::<UInt64Type>(array, |value| value as f64),
        DataType::Decimal128(_, scale) => {
            let unit = 10_f64.powi(i32::from(*scale));
            each::<Decimal128Type>(array, |value| value as f64 / unit)
        }
        DataType::Decimal256(..) => {
            let written = decimals::<Decimal256Type>(array);
            written
                .iter()
                .map(|text| text.map_or(Ok(None), |text| text.parse().map(Some)))
                .collect::<Result<_, _>>()
                .ok()?
        }
        _ => return None,
    })
}

fn each<T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> Float64Array {
    array.as_primitive::<T>().unary(number)
}

/// A column as text; numbers with a fraction are not for here, as they have many ways to be written.
pub(super) fn text(array: &dyn Array) -> Option<StringArray> {
    Some(match array.data_type() {
        DataType::Null => StringArray::new_null(array.len()),
        DataType::Utf8 => array.as_string::<i32>().clone(),
        // As old writers mark text; what is none is missing.
        DataType::Binary => {
            let decoded = |bytes: Option<_>| bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
            array.as_binary::<i32>().iter().map(decoded).collect()
        }
        DataType::Boolean => {
            let word = |bit: Option<bool>| bit.map(|bit| if bit { "true" } else { "false" });
            array.as_boolean().iter().map(word).collect()
        }
        DataType::Int8 => written::<Int8Type>(array),
        DataType::Int16 => written::<Int16Type>(array),
        DataType::Int32 => written::<Int32Type>(array),
        DataType::Int64 => written::<Int64Type>(array),
        DataType::UInt8 => written::<UInt8Type>(array),
        DataType::UInt16 => written::<UInt16Type>(array),
        DataType::UInt32 => written::<UInt32Type>(array),
        DataType::UInt64 => written::<UInt64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        _ => return times(array),
    })
}

fn written<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array) -> StringArray {
    array.as_primitive::<T>().iter().map(|value| value.map(|value| value.to_string())).collect()
}

fn decimals<T: DecimalType>(array: &dyn Array) -> StringArray {
    let array = array.as_primitive::<T>();
    (0..array.len()).map(|row| array.is_valid(row).then(|| array.value_as_string(row))).collect()
}

/// Dates and times as RFC 3339 writes them.
fn times(array: &dyn Array) -> Option<StringArray> {
    let zone = match array.data_type() {
        DataType::Timestamp(_, None) => "",
        // Parquet knows universal time and none.
        DataType::Timestamp(_, Some(zone)) if &**zone == "UTC" => "Z",
        DataType::Timestamp(..) => return None,
        _ => "",
    };
    match array.data_type() {
        DataType::Date32 => {
            moments::<Date32Type, _>(array, |days, row| Some(days.value_as_date(row)?.to_string()))
        }
        DataType::Time32(TimeUnit::Millisecond) => moments::<Time32MillisecondType, _>(array, of_day),
        DataType::Time64(TimeUnit::Microsecond) => moments::<Time64MicrosecondType, _>(array, of_day),
        DataType::Time64(TimeUnit::Nanosecond) => moments::<Time64NanosecondType, _>(array, of_day),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            moments::<TimestampMillisecondType, _>(array, stamp(zone))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            moments::<TimestampMicrosecondType, _>(array, stamp(zone))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            moments::<TimestampNanosecondType, _>(array, stamp(zone))
        }
        _ => None,
    }
}

/// All values in words; nothing if one has none.
fn moments<T, W>(array: &dyn Array, word: W) -> Option<StringArray>
where
    T: ArrowPrimitiveType,
    W: Fn(&PrimitiveArray<T>, usize) -> Option<String>,
{
    let array = array.as_primitive::<T>();
    let cell = |row| if array.is_null(row) { Some(None) } else { word(array, row).map(Some) };
    (0..array.len()).map(cell).collect()
}

fn of_day<T: ArrowTemporalType>(array: &PrimitiveArray<T>, row: usize) -> Option<String>
where
    i64: From<T::Native>,
{
    Some(format!("{:?}", array.value_as_time(row)?))
}

fn stamp<T: ArrowTemporalType>(zone: &str) -> impl Fn(&PrimitiveArray<T>, usize) -> Option<String>
where
    i64: From<T::Native>,
{
    move |array, row| Some(format!("{:?}{zone}", array.value_as_datetime(row)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
        DurationSecondArray, Int64Array, NullArray, Time64MicrosecondArray, TimestampMillisecondArray,
        UInt8Array,
    };

    use super::*;

    fn columns() -> Vec<(ArrayRef, Option<f64>, Option<&'static str>)> {
        let prices = Decimal128Array::from(vec![None, Some(-1205)]).with_precision_and_scale(10, 2);
        let large = Decimal256Array::from(vec![
            None,
            Some(<Decimal256Type as ArrowPrimitiveType>::Native::from_i128(-1205)),
        ])
        .with_precision_and_scale(50, 3);
        let stamps = || TimestampMillisecondArray::from(vec![None, Some(1_700_000_000_250)]);
        vec![
            (Arc::new(NullArray::new(2)), None, None),
            (Arc::new(BooleanArray::from(vec![None, Some(true)])), Some(1.0), Some("true")),
            (Arc::new(UInt8Array::from(vec![None, Some(200)])), Some(200.0), Some("200")),
            (Arc::new(Int64Array::from(vec![None, Some(-7)])), Some(-7.0), Some("-7")),
            (Arc::new(prices.unwrap()), Some(-12.05), Some("-12.05")),
            (Arc::new(large.unwrap()), Some(-1.205), Some("-1.205")),
            (Arc::new(BinaryArray::from(vec![None, Some(&b"north"[..])])), None, Some("north")),
            (Arc::new(BinaryArray::from(vec![None, Some(&b"\xff"[..])])), None, None),
            (Arc::new(Date32Array::from(vec![None, Some(19_000)])), None, Some("2022-01-08")),
            (Arc::new(Time64MicrosecondArray::from(vec![None, Some(3_600_000_000)])), None, Some("01:00:00")),
            (Arc::new(stamps()), None, Some("2023-11-14T22:13:20.250")),
            (Arc::new(stamps().with_timezone("UTC")), None, Some("2023-11-14T22:13:20.250Z")),
        ]
    }

    /// A missing value, then one: catches a missing value that is read as one, and each type in other words.
    #[test]
    fn every_type_by_hand() {
        for (array, number, word) in columns() {
            let kind = array.data_type();
            if let Some(found) = numbers(&array) {
                assert_eq!(found.iter().collect::<Vec<_>>(), [None, number], "{kind}");
            } else {
                assert_eq!(number, None, "{kind}");
            }
            let found = text(&array).unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), [None, word], "{kind}");
        }
        let duration = DurationSecondArray::from(vec![1]);
        assert!(text(&duration).is_none() && numbers(&duration).is_none());
        assert!(text(&stamps_elsewhere()).is_none());
    }

    fn stamps_elsewhere() -> TimestampMillisecondArray {
        TimestampMillisecondArray::from(vec![0]).with_timezone("+01:00")
    }
}
