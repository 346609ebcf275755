//! Catalog of methods by name, with their parameters: what a command line or a page chooses from.

use crate::agentic_rag::AgenticRag;
use crate::closed_book::ClosedBook;
use crate::cost::{BookSize, Calls, Cost, Sizes};
use crate::full_document::FullDocument;
use crate::host::Host;
use crate::memory_agent::MemoryAgent;
use crate::method::{Method, PreparationInputs, Preset};
use crate::parameters::{self, ParameterError};
use crate::passages::Passages;
use crate::query_summary::QuerySummary;
use crate::questions::Questions;
use crate::rag::Rag;
use crate::raptor::Raptor;
use crate::read_agent::ReadAgent;
use crate::run::{self, prepare, run};
use crate::session::Session;
use crate::settings::Settings;
use crate::style::PromptStyle;
use crate::trial::{self, MethodError, Trial};
use closeread_eval::Item;
use serde_json::Value;

/// Facts of a method that are known before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the method in options, records and tables.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the model gets, in a line.
    pub summary: &'static str,
    preset: AnyPreset,
}

/// The entry of that name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name)
}

/// Makes of the names of methods the enums over them, and what chooses between them.
macro_rules! methods {
    ($($method:ident),+ $(,)?) => {
        /// A method with its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum AnyMethod {
            $(#[doc = concat!("[`", stringify!($method), "`].")] $method($method)),+
        }

        /// The preparation of any method, made of books.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "made", rename_all = "kebab-case")]
        pub enum AnyPrepared {
            $(#[doc = concat!("By [`", stringify!($method), "`].")] $method(<$method as Method>::Prepared)),+
        }

        /// A preset of some method.
        #[derive(Debug, Clone, Copy)]
        enum AnyPreset {
            $($method(&'static Preset<$method>)),+
        }

        /// Every method, in the order of a report.
        pub static METHODS: std::sync::LazyLock<Vec<Entry>> = std::sync::LazyLock::new(|| {
            let mut entries = Vec::new();
            $(entries.extend($method::PRESETS.iter().map(|preset| Entry {
                name: preset.name,
                paper: preset.paper,
                summary: preset.summary,
                preset: AnyPreset::$method(preset),
            }));)+
            entries
        });

        $(impl From<$method> for AnyMethod {
            fn from(method: $method) -> Self {
                Self::$method(method)
            }
        })+

        impl Entry {
            /// The method with the parameters of a JSON object; what it does not name keeps the paper's value.
            ///
            /// # Errors
            /// [`ParameterError::Wrong`] for a name it does not know, a value of the wrong kind, or values that do not
            /// go together.
            pub fn method(&self, given: &Value) -> Result<AnyMethod, ParameterError> {
                self.preset().with(self.name, given)
            }

            /// The method with the paper's parameters.
            pub fn preset(&self) -> AnyMethod {
                match self.preset {
                    $(AnyPreset::$method(preset) => AnyMethod::$method((preset.make)())),+
                }
            }
        }

        impl AnyMethod {
            /// The method `name` with parameters from a JSON object; what it does not name keeps the paper's value.
            ///
            /// # Errors
            /// [`ParameterError`] for an unknown method or parameter.
            pub fn named(name: &str, given: &Value) -> Result<Self, ParameterError> {
                let known = || METHODS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
                entry(name).ok_or_else(|| ParameterError::Unknown(name.to_owned(), known()))?.method(given)
            }

            /// Returns the method known as `name`, with the parameters of a JSON object in the place of its own.
            ///
            /// # Errors
            /// [`ParameterError::Wrong`], as [`Entry::method`].
            pub fn with(&self, name: &str, given: &Value) -> Result<Self, ParameterError> {
                match self { $(Self::$method(method) => parameters::with(name, method, given).map(Self::$method)),+ }
            }

            /// Returns the method with the embedding model of that name, if it has passages.
            #[must_use]
            pub fn embedded_by(self, embedder: &str) -> Self {
                self.overlaid(&serde_json::json!({ "embedder": embedder }))
            }

            /// Returns the method with the prompts and answer forms of a paper, if it has the parameter `style`.
            #[must_use]
            pub fn in_style(self, style: PromptStyle) -> Self {
                self.overlaid(&serde_json::json!({ "style": style }))
            }

            /// Returns the method with these parameters, if it has them.
            fn overlaid(self, given: &Value) -> Self {
                match self {
                    $(Self::$method(method) => {
                        Self::$method(parameters::overlaid(&method, given).unwrap_or(method))
                    }),+
                }
            }

            /// See [`Method::passages`].
            pub fn passages(&self) -> Option<&Passages> {
                match self { $(Self::$method(method) => method.passages()),+ }
            }

            /// See [`Method::ranks_passages`].
            pub fn ranks_passages(&self) -> bool {
                match self { $(Self::$method(method) => method.ranks_passages()),+ }
            }

            /// See [`Method::takes_budget`].
            pub fn takes_budget(&self) -> bool {
                match self { $(Self::$method(method) => method.takes_budget()),+ }
            }

            /// See [`Method::declines`].
            pub fn declines(&self, item: &Item) -> Option<&'static str> {
                match self { $(Self::$method(method) => method.declines(item)),+ }
            }

            /// See [`Method::asks_together`].
            pub fn asks_together(&self) -> bool {
                match self { $(Self::$method(method) => method.asks_together()),+ }
            }

            /// See [`Method::shares_its_prompts`].
            pub fn shares_its_prompts(&self) -> bool {
                match self { $(Self::$method(method) => method.shares_its_prompts()),+ }
            }

            /// See [`Method::preparation`].
            pub fn preparation(&self) -> Option<PreparationInputs> {
                match self { $(Self::$method(method) => method.preparation()),+ }
            }

            /// The items of each call.
            pub fn batches<'q>(&self, items: &[&'q Item]) -> Vec<Questions<'q>> {
                match self { $(Self::$method(method) => run::batches(method, items)),+ }
            }

            /// See [`prepare`].
            ///
            /// # Errors
            /// As there.
            pub async fn prepare<H: Host>(
                &self,
                session: &Session<'_, H>,
            ) -> Result<Option<Preparation>, MethodError> {
                Ok(match self {
                    $(Self::$method(method) => prepare(method, session).await?.map(|made| Preparation {
                        prepared: made.prepared.map(AnyPrepared::$method),
                        prompt_tokens: made.prompt_tokens,
                        calls: made.calls,
                        measures: made.measures,
                    })),+
                })
            }

            /// See [`run`].
            ///
            /// # Errors
            /// As there, and if what is prepared is another method's.
            pub async fn run<H: Host>(
                &self,
                session: &Session<'_, H>,
                items: &[&Item],
                prepared: Option<&AnyPrepared>,
            ) -> Result<Vec<Trial>, MethodError> {
                match self {
                    $(Self::$method(method) => {
                        let prepared = match prepared {
                            Some(AnyPrepared::$method(prepared)) => Some(prepared),
                            Some(_) => return Err(MethodError::Unprepared("another method made it".to_owned())),
                            None => None,
                        };
                        run(method, session, items, prepared).await
                    }),+
                }
            }

            fn cost_of(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
                match self { $(Self::$method(method) => method.cost(sizes, questions)),+ }
            }

            fn preparation_cost(&self, sizes: &Sizes<'_>) -> Result<Vec<Calls>, MethodError> {
                match self { $(Self::$method(method) => method.preparation_cost(sizes)),+ }
            }
        }
    };
}

methods! { ClosedBook, FullDocument, Rag, AgenticRag, Raptor, ReadAgent, MemoryAgent, QuerySummary }

/// The preparation of some method here, made of books.
pub type Preparation<P = AnyPrepared> = trial::Preparation<P>;

impl AnyMethod {
    /// Returns what the method will ask for to answer `items`, all of which are about `books`; `budget` as for
    /// [`run`](run::run).
    ///
    /// Exact to a few tokens for `closed-book` and `full-document`, ranges for the others. A limit in
    /// `settings.context_window` counts as it does in the run: what does not fit is not asked.
    ///
    /// # Errors
    /// [`MethodError`] if a prompt cannot be filled.
    pub fn cost(
        &self,
        settings: Settings<'_>,
        books: &[BookSize],
        items: &[&Item],
        budget: Option<usize>,
    ) -> Result<Cost, MethodError> {
        let mut sizes = Sizes { settings, books, budget, is_first: true };
        let mut cost = Cost { calls: self.preparation_cost(&sizes)?, overflows: Vec::new() };
        for questions in self.batches(items) {
            if self.declines(questions.first()).is_none() {
                let Cost { calls, overflows } = self.cost_of(&sizes, &questions)?;
                cost.calls.extend(calls);
                cost.overflows.extend(overflows);
            }
            sizes.is_first = false;
        }
        Ok(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_method_has_parameters_that_can_be_printed_and_read_again() {
        for entry in METHODS.iter() {
            let method = entry.method(&json!({})).unwrap();
            let printed = serde_json::to_value(&method).unwrap();
            assert_eq!(entry.method(&printed).unwrap(), method, "{}", entry.name);
        }
    }

    #[test]
    fn finding_10_every_number_among_the_parameters_has_a_range() {
        for entry in METHODS.iter() {
            let own = serde_json::to_value(entry.preset()).unwrap();
            for (name, _) in own.as_object().unwrap().iter().filter(|(_, value)| value.is_number() || value.is_null()) {
                if ["embedder", "style"].contains(&name.as_str()) {
                    continue;
                }
                for value in [json!(-1), json!(1e300)] {
                    let refused = entry.method(&json!({ name: value })).unwrap_err().to_string();
                    assert!(refused.contains("expected a number from"), "{}.{name}: {refused}", entry.name);
                }
            }
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_by_name() {
        let message = |name: &str, given: Value| AnyMethod::named(name, &given).unwrap_err().to_string();
        let unknown = message("dos-rag", json!({"bugdet": 1}));
        assert!(
            unknown.contains("`bugdet`") && unknown.contains("dos-rag") && unknown.contains("max_tokens"),
            "{unknown}"
        );
        let wrong = message("naive-rag", json!({"neighbours": 1, "top_k": "many"}));
        assert!(wrong.contains("`top_k` cannot be \"many\""), "{wrong}");
        for parameter in ["together", "evidence"] {
            let message = message("full-document", json!({"style": "sagascale", parameter: true}));
            assert!(message.contains(&format!("{parameter}=true needs style=novelqa")), "{message}");
        }
        let message = message("dos", json!({}));
        assert!(message.contains("closed-book, full-document"), "{message}");
    }
}
