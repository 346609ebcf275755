//! Values of a closed list, which are types of core, as clap takes and lists them.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use std::fmt;

/// Takes the names that the serde form of an enum without fields has: help lists them, others are refused with the nearest.
pub(crate) fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names::<T>().iter().copied())
        .try_map(|name| T::deserialize(StrDeserializer::<de::value::Error>::new(&name)))
}

/// The names of an enum's variants.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    T::deserialize(Asking).err().map_or(&[], |Names(names)| names)
}

/// A deserializer that, asked for an enum, answers with the names of the variants, as an error: there is no value.
struct Asking;

#[derive(Debug)]
struct Names(&'static [&'static str]);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0.join(", "))
    }
}

impl std::error::Error for Names {}

impl de::Error for Names {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Asking {
    type Error = Names;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Names> {
        Err(Names(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Names> {
        Err(Names(variants))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// Reads a name that becomes part of the names of files: one that leads out of their folder is refused.
pub(crate) fn name_in_files(text: &str) -> Result<String, String> {
    match text.contains(['/', '\\']) {
        true => Err("expected a name without slashes, such as financial_en".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// The values in their order, each once: what is named twice is meant once, and would be paid for twice.
pub(crate) fn each_once<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for value in values {
        if !once.contains(value) {
            once.push(value.clone());
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_methods::OnOverflow;
    use closeread_retrieve::Retriever;

    #[test]
    fn finding_01_a_name_in_files_does_not_lead_out_of_their_folder() {
        assert_eq!(name_in_files("financial_en"), Ok("financial_en".to_owned()));
        assert!(["../../mine", "a/b", "..\\mine"].iter().all(|name| name_in_files(name).is_err()));
    }

    #[test]
    fn the_names_are_those_of_serde() {
        assert_eq!(names::<Retriever>(), ["dense", "bm25", "hybrid"]);
        let parsed = |name: &str| {
            let command = clap::Command::new("x").arg(clap::Arg::new("on").value_parser(one_of::<OnOverflow>()));
            command.try_get_matches_from(["x", name]).map(|found| *found.get_one::<OnOverflow>("on").expect("given"))
        };
        assert_eq!(parsed("truncate-end").expect("known"), OnOverflow::TruncateEnd);
        let refused = parsed("truncate-ends").expect_err("unknown").to_string();
        assert!(refused.contains("possible values: fail, truncate-end, truncate-middle"), "{refused}");
    }
}
