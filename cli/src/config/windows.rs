//! `--context-window`: one for all models, or one a model.

use anyhow::{Result, bail};
use closeread_llm::price::PriceList;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Most tokens that a window may have.
const MOST: usize = 1_000_000_000;

/// The windows that were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Window of models without one of their own.
    pub(crate) all: Option<usize>,
    /// Windows by model.
    pub(crate) of: BTreeMap<String, usize>,
}

impl Windows {
    /// Returns the window of each model that has one of its own, or a known one where none is given for all.
    ///
    /// # Errors
    /// If a window is given for a model that is not asked.
    pub(crate) fn by_model(&self, models: &[String], known: &PriceList) -> Result<BTreeMap<String, usize>> {
        if let Some(unknown) = self.of.keys().find(|model| !models.contains(model)) {
            bail!("--context-window names `{unknown}`, which this run does not ask: expected {}", models.join(", "));
        }
        let known = |model: &String| known.of(model)?.window.filter(|_| self.all.is_none());
        let of = |model: &String| Some((model.clone(), self.of.get(model).copied().or_else(|| known(model))?));
        Ok(models.iter().filter_map(of).collect())
    }
}

impl FromStr for Windows {
    type Err = String;

    /// Reads `128000`, `openai/gpt-4o=128000,gemini/gemini-2.5-pro=1000000`, or both.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut windows = Self::default();
        for (place, part) in text.split(',').enumerate() {
            // `8,192` would be a window of 192 tokens.
            if place > 0 && part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(format!("`{text}`: write a thousand without a comma, as in 128000"));
            }
            let (model, number) = part.rsplit_once('=').map_or((None, part), |(model, n)| (Some(model.trim()), n));
            let tokens = number.trim().parse().ok().filter(|n| (1..=MOST).contains(n));
            let tokens =
                tokens.ok_or_else(|| format!("`{part}`: expected a number from 1 to 1,000,000,000, or MODEL=N,..."))?;
            match model {
                Some("") => return Err(format!("`{part}`: expected MODEL=N")),
                Some(model) => drop(windows.of.insert(model.to_owned(), tokens)),
                None if windows.all.is_some() => return Err(format!("`{text}`: expected one window for all models")),
                None => windows.all = Some(tokens),
            }
        }
        Ok(windows)
    }
}

impl<'de> Deserialize<'de> for Windows {
    /// A number, the text of the option, or a table of numbers by model.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number, or a table of numbers by model")]
        enum Given {
            All(usize),
            Text(String),
            Of(BTreeMap<String, usize>),
        }
        let text = match Given::deserialize(deserializer)? {
            Given::All(tokens) => tokens.to_string(),
            Given::Text(text) => text,
            Given::Of(of) => of.iter().map(|(model, tokens)| format!("{model}={tokens}")).collect::<Vec<_>>().join(","),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_model_s_own_window_wins_over_the_one_for_all_and_that_over_the_known_one() {
        let asked = models(&["openai/gpt-4o", "openai-compatible/tiny", "openai/gpt-9"]);
        let by_model = |text: &str| {
            let windows: Windows = text.parse().unwrap();
            let found = windows.by_model(&asked, &PriceList::built_in()).unwrap();
            asked.iter().map(|model| found.get(model).copied().or(windows.all)).collect::<Vec<_>>()
        };
        assert_eq!(by_model("openai-compatible/tiny=900"), [Some(128_000), Some(900), None]);
        assert_eq!(by_model("5000"), [Some(5000); 3]);
        assert_eq!(by_model("5000,openai/gpt-4o=7"), [Some(7), Some(5000), Some(5000)]);
        let none = Windows::default().by_model(&asked, &PriceList::built_in()).unwrap();
        assert_eq!(none, BTreeMap::from([("openai/gpt-4o".to_owned(), 128_000)]));
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for text in ["0", "x", "-1", "1000000001", "openai/x=", "=5", "", "5000,6000"] {
            assert!(text.parse::<Windows>().is_err(), "{text}");
        }
        for text in ["8,192", "128,000", "1,047,576", "openai/x=8,192"] {
            assert!(text.parse::<Windows>().unwrap_err().contains("without a comma"), "{text}");
        }
        let windows: Windows = "openai/x=5".parse().unwrap();
        let error = windows.by_model(&models(&["openai/y"]), &PriceList::default()).unwrap_err().to_string();
        assert!(error.contains("names `openai/x`") && error.contains("expected openai/y"), "{error}");
        let of =
            |text: &str| toml::from_str::<BTreeMap<String, Windows>>(text).map(|mut read| read.remove("w").unwrap());
        assert_eq!(of("w = 7").unwrap().all, Some(7));
        assert_eq!(of("w = { 'a/b' = 7 }").unwrap(), of("w = 'a/b=7'").unwrap());
        assert!(of("w = 0").is_err());
    }
}
