//! Every method by its name, with its parameters: what a command line or a page chooses from.

use super::{METHODS, Method, MethodError, Preparation, Questions, Session, Stop, Trial};
use crate::Host;
use closeread_eval::Item;
use closeread_eval::Outcome;
use serde_json::{Map, Value};

/// What is known of a method before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in options, records and tables.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the reader gets, in a line.
    pub summary: &'static str,
    pub(super) preset: super::AnyPreset,
}

/// The entry of that name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name)
}

/// Why parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// No method of that name.
    #[error("there is no method `{0}`; the names are: {1}")]
    Unknown(String, String),
    /// A name or a value that the method does not take.
    #[error("method `{method}` does not take these parameters: {problem}")]
    Wrong {
        /// Name of the method.
        method: String,
        /// What is wrong.
        problem: Box<ParameterProblem>,
    },
}

/// What is wrong with the parameters of a method.
#[derive(Debug, thiserror::Error)]
pub enum ParameterProblem {
    /// They are no JSON object.
    #[error("expected an object with parameters")]
    NoObject,
    /// The method has none of that name.
    #[error("unknown parameter `{name}`; {}", listed(.known))]
    Unknown {
        /// As given.
        name: String,
        /// Those it has.
        known: Vec<String>,
    },
    /// A value of the wrong kind.
    #[error("`{name}` cannot be {value}: {error}")]
    Value {
        /// Its parameter.
        name: String,
        /// As given.
        value: Value,
        /// What was expected.
        error: serde_json::Error,
    },
    /// Values of which none is wrong by itself.
    #[error(transparent)]
    Together(#[from] serde_json::Error),
    /// Values that the method refuses, see [`Method::check`].
    #[error("{0}")]
    Refused(&'static str),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

/// A method with the parameters of a JSON object in the place of its own, held to what goes together.
pub(super) fn with<M: Method>(name: &str, method: &M, given: &Value) -> Result<M, ParameterError> {
    let wrong = |problem| ParameterError::Wrong { method: name.to_owned(), problem: Box::new(problem) };
    let method = overlaid(method, given).map_err(wrong)?;
    method.check().map_err(|problem| wrong(ParameterProblem::Refused(problem)))?;
    Ok(method)
}

/// A method with the parameters of a JSON object in the place of its own.
pub(super) fn overlaid<M: Method>(method: &M, given: &Value) -> Result<M, ParameterProblem> {
    let own = match serde_json::to_value(method)? {
        Value::Object(own) => own,
        _ => Map::new(),
    };
    let given = given.as_object().ok_or(ParameterProblem::NoObject)?;
    let overlay = |parameters: &mut dyn Iterator<Item = (&String, &Value)>| {
        let mut all = own.clone();
        all.extend(parameters.map(|(name, value)| (name.clone(), value.clone())));
        M::deserialize(Value::Object(all))
    };
    if let Some(name) = given.keys().find(|name| !own.contains_key(*name)) {
        return Err(ParameterProblem::Unknown { name: name.clone(), known: own.keys().cloned().collect() });
    }
    overlay(&mut given.iter()).map_err(|error| {
        // The one at fault, for a message that names it.
        let alone = given.iter().find_map(|one| Some((one, overlay(&mut std::iter::once(one)).err()?)));
        match alone {
            Some(((name, value), error)) => ParameterProblem::Value { name: name.clone(), value: value.clone(), error },
            None => error.into(),
        }
    })
}

/// Tries to answer `items`, which are about the books of the session, with one trial each, in their order. Each call is
/// made in a session like `session`, of its own.
///
/// # Errors
/// [`MethodError`] if the method cannot run at all. What goes wrong with one item is an outcome.
pub async fn run<M: Method, H: Host>(
    method: &M,
    session: &Session<'_, H>,
    items: &[&Item],
    prepared: Option<&M::Prepared>,
) -> Result<Vec<Trial>, MethodError> {
    let mut trials: Vec<(&Item, Trial)> = Vec::with_capacity(items.len());
    for questions in batches(method, items) {
        let mut session = session.anew();
        let end = match method.declines(questions.first()) {
            Some(reason) => Err(Stop::Outcome(Outcome::NotAsked { reason: reason.to_owned() })),
            None => method.answer(&mut session, &questions, prepared).await,
        };
        trials.extend(questions.items().iter().copied().zip(session.into_trials(&questions, end)?));
    }
    let mut in_order = Vec::with_capacity(items.len());
    for item in items {
        let place = trials.iter().position(|(other, _)| std::ptr::eq(*other, *item));
        in_order.extend(place.map(|place| trials.remove(place).1));
    }
    Ok(in_order)
}

/// The items of each call.
pub(super) fn batches<'q, M: Method>(method: &M, items: &[&'q Item]) -> Vec<Questions<'q>> {
    match method.asks_together() {
        true => Questions::by_task(items),
        false => Questions::one_each(items),
    }
}

/// Makes of the books of the session what all questions on them share; `None` if the method asks at once.
///
/// # Errors
/// [`MethodError`] if the method cannot run at all. A call that fails is part of the preparation.
pub async fn prepare<M: Method, H: Host>(
    method: &M,
    session: &Session<'_, H>,
) -> Result<Option<Preparation<M::Prepared>>, MethodError> {
    let mut session = session.anew();
    let end = match method.prepare(&mut session).await {
        Ok(None) => return Ok(None),
        Ok(Some(prepared)) => Ok(prepared),
        Err(stop) => Err(stop),
    };
    session.into_preparation(end).map(Some)
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

        /// What a method made of books.
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

            /// The same, known as `name`, with the parameters of a JSON object in the place of its own.
            ///
            /// # Errors
            /// [`ParameterError::Wrong`], as [`Entry::method`].
            pub fn with(&self, name: &str, given: &Value) -> Result<Self, ParameterError> {
                match self { $(Self::$method(method) => registry::with(name, method, given).map(Self::$method)),+ }
            }

            /// The same with the embedding model of that name, if it has passages.
            #[must_use]
            pub fn embedded_by(self, embedder: &str) -> Self {
                self.overlaid(&serde_json::json!({ "embedder": embedder }))
            }

            /// The same with the prompts and answer forms of a paper, if it has the parameter `style`.
            #[must_use]
            pub fn in_style(self, style: PromptStyle) -> Self {
                self.overlaid(&serde_json::json!({ "style": style }))
            }

            /// The same with these parameters, if it has them.
            fn overlaid(self, given: &Value) -> Self {
                match self {
                    $(Self::$method(method) => {
                        Self::$method(registry::overlaid(&method, given).unwrap_or(method))
                    }),+
                }
            }

            /// See [`Method::passages`].
            pub fn passages(&self) -> Option<&Passages> {
                match self { $(Self::$method(method) => method.passages()),+ }
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
                match self { $(Self::$method(method) => registry::batches(method, items)),+ }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyMethod;
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
