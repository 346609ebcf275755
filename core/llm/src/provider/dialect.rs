//! Dialects: what servers of one protocol differ in.

use super::fault::Adjustment;
use super::http::TokenLimit;
use serde::{Deserialize, Serialize};

/// The dialect of a model: how it wants to be asked, where models of one protocol differ. It is learnt from refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dialect {
    /// The name of the limit on the response (OpenAI's protocol).
    pub token_limit: TokenLimit,
    /// Whether the model takes no temperature but its own: none is sent.
    pub own_temperature: bool,
    /// Whether the model takes no seed.
    pub no_seed: bool,
    /// Whether the server takes no options of a stream (Mistral): it names the usage all the same, or never.
    #[serde(default)]
    pub no_stream_options: bool,
    /// Whether the model does not stream its responses (OpenAI's newer models to an account that is not verified).
    #[serde(default)]
    pub no_stream: bool,
}

impl Dialect {
    /// The dialect after a refusal; `None` if it said so already, for then asking again would change nothing.
    pub fn adjusted(self, adjustment: Adjustment) -> Option<Self> {
        let changed = match adjustment {
            Adjustment::TokenLimit(token_limit) => Self { token_limit, ..self },
            Adjustment::OwnTemperature => Self { own_temperature: true, ..self },
            Adjustment::NoSeed => Self { no_seed: true, ..self },
            Adjustment::NoStreamOptions => Self { no_stream_options: true, ..self },
            Adjustment::NoStream => Self { no_stream: true, ..self },
        };
        (changed != self).then_some(changed)
    }
}
