//! Configuration of an encoder, from `config.json`.

use super::format::ConvertError;
use closeread_kernels::Activation;
use serde::Deserialize;

/// The part of `config.json` that shapes the computation.
#[derive(Debug, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    hidden_act: String,
    pub(crate) layer_norm_eps: f32,
    pub(crate) max_position_embeddings: usize,
    pub(crate) vocab_size: usize,
    pub(crate) type_vocab_size: usize,
    #[serde(default)]
    pad_token_id: usize,
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
    /// Field in which sentence-transformers keeps the activation since 4.1.
    #[cfg(feature = "encoder")]
    sentence_transformers: Option<SentenceTransformers>,
    /// Field in which sentence-transformers kept the activation before 4.1.
    #[cfg(feature = "encoder")]
    sbert_ce_default_activation_function: Option<String>,
}

#[cfg(feature = "encoder")]
#[derive(Debug, Deserialize)]
struct SentenceTransformers {
    activation_fn: Option<String>,
}

impl Config {
    pub(crate) fn read(json: &[u8]) -> Result<Self, ConvertError> {
        #[derive(Deserialize)]
        struct Family {
            model_type: Option<String>,
        }
        let broken = |error: serde_json::Error| ConvertError::Config(error.to_string());
        // The family first: another one lacks half of the keys, and naming one of those would mislead.
        let family: Family = serde_json::from_slice(json).map_err(broken)?;
        let family = family.model_type.unwrap_or_else(|| "(absent)".to_owned());
        if !["bert", "roberta", "xlm-roberta"].contains(&family.as_str()) {
            return Err(unsupported("model_type", &family, "bert, roberta, xlm-roberta"));
        }
        let config: Self = serde_json::from_slice(json).map_err(broken)?;
        config.activation()?;
        if let Some(positions) = config.position_embedding_type.as_deref().filter(|&kind| kind != "absolute") {
            return Err(unsupported("position_embedding_type", positions, "absolute"));
        }
        if config.is_decoder {
            return Err(unsupported("is_decoder", "true", "false"));
        }
        let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
        if heads == 0 || hidden == 0 || !hidden.is_multiple_of(heads) {
            return Err(ConvertError::Heads { hidden, heads });
        }
        if config.max_position_embeddings <= config.first_position() || config.type_vocab_size == 0 {
            let sizes = "max_position_embeddings and type_vocab_size leave no position or no token type";
            return Err(ConvertError::Config(sizes.to_owned()));
        }
        Ok(config)
    }

    pub(crate) fn activation(&self) -> Result<Activation, ConvertError> {
        match self.hidden_act.as_str() {
            "gelu" | "gelu_python" => Ok(Activation::Gelu),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
            "relu" => Ok(Activation::Relu),
            other => Err(unsupported("hidden_act", other, "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu")),
        }
    }

    /// The position of a text's first token: RoBERTa leaves out those up to the padding token's number.
    pub(crate) fn first_position(&self) -> usize {
        if self.model_type == "bert" { 0 } else { self.pad_token_id + 1 }
    }

    /// Returns whether the model is of the first family: with a pooler, and a classifier of one layer behind it.
    #[cfg(feature = "encoder")]
    pub(crate) fn is_bert(&self) -> bool {
        self.model_type == "bert"
    }

    /// Returns whether a model with one output gives its logistic function as the score: so does sentence-transformers
    /// where nothing is said.
    #[cfg(feature = "encoder")]
    pub(crate) fn scores_by_sigmoid(&self) -> Result<bool, ConvertError> {
        let said = self.sentence_transformers.as_ref().and_then(|said| said.activation_fn.as_deref());
        let said = said.or(self.sbert_ce_default_activation_function.as_deref());
        match said.map(|name| name.rsplit('.').next().unwrap_or(name)) {
            None | Some("Sigmoid") => Ok(true),
            Some("Identity") => Ok(false),
            Some(other) => Err(unsupported("activation_fn", other, "Identity, Sigmoid")),
        }
    }

    /// Positions a text can use.
    pub(crate) fn n_positions(&self) -> usize {
        self.max_position_embeddings - self.first_position()
    }
}

fn unsupported(key: &'static str, value: &str, known: &'static str) -> ConvertError {
    ConvertError::Unsupported { key, value: value.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(changes: &serde_json::Value) -> Result<Config, ConvertError> {
        let mut config = serde_json::json!({
            "model_type": "xlm-roberta", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
            "intermediate_size": 16, "hidden_act": "gelu", "layer_norm_eps": 1e-5, "max_position_embeddings": 514,
            "vocab_size": 10, "type_vocab_size": 1, "pad_token_id": 1
        });
        for (key, value) in changes.as_object().expect("an object") {
            config[key] = value.clone();
        }
        Config::read(config.to_string().as_bytes())
    }

    #[test]
    fn roberta_counts_positions_from_behind_the_padding_token() {
        assert_eq!(config(&serde_json::json!({})).expect("valid").n_positions(), 512);
        let bert = config(&serde_json::json!({"model_type": "bert", "max_position_embeddings": 512}));
        assert_eq!(bert.expect("valid").n_positions(), 512);
    }

    #[test]
    fn refuses_other_models_by_name() {
        for (changes, word) in [
            (serde_json::json!({"model_type": "distilbert"}), "distilbert"),
            (serde_json::json!({"model_type": null}), "(absent)"),
            (serde_json::json!({"hidden_act": "silu"}), "silu"),
            (serde_json::json!({"position_embedding_type": "relative_key"}), "relative_key"),
            (serde_json::json!({"num_attention_heads": 3}), "num_attention_heads 3"),
            (serde_json::json!({"is_decoder": true}), "is_decoder"),
            (serde_json::json!({"max_position_embeddings": 2}), "max_position_embeddings"),
        ] {
            let message = config(&changes).expect_err("refused").to_string();
            assert!(message.contains(word), "{message}");
        }
        let other = Config::read(br#"{"model_type": "t5", "d_model": 512}"#).expect_err("refused").to_string();
        assert!(other.contains("t5") && other.contains("xlm-roberta"), "{other}");
    }
}
