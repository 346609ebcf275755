//! A value of a row with the first key that its object holds twice: JSON lets the last one count, and says nothing.

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

pub(super) struct Read {
    pub(super) value: Value,
    pub(super) twice: Option<String>,
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

fn plain<E>(value: impl Into<Value>) -> Result<Read, E> {
    Ok(Read { value: value.into(), twice: None })
}

impl<'de> Visitor<'de> for Reader {
    type Value = Read;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let (mut fields, mut twice) = (Map::new(), None);
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if twice.is_none() && fields.contains_key(&key) {
                twice = Some(key.clone());
            }
            fields.insert(key, value);
        }
        Ok(Read { value: Value::Object(fields), twice })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Read, A::Error> {
        plain(Value::deserialize(SeqAccessDeserializer::new(list))?)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Read, E> {
        plain(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Read, E> {
        plain(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Read, E> {
        plain(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Read, E> {
        plain(value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Read, E> {
        plain(value)
    }

    fn visit_unit<E>(self) -> Result<Read, E> {
        plain(Value::Null)
    }
}
