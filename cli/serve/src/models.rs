//! Servers of models on this machine: at which ports they are looked for, and what they offer.

use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

/// Programs that serve models, and the port that each takes unless it is told another.
const KNOWN: [(&str, u16); 3] = [("Ollama", 11434), ("LM Studio", 1234), ("llama-server", 8080)];
/// Longest that one may take to list its models.
const TIME: Duration = Duration::from_secs(3);
/// Longest list that is read.
const MAX_LIST: usize = 1 << 20;

/// A port at which a server of models is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    name: Option<&'static str>,
    pub(crate) port: u16,
}

/// The ports of programs that are known, and those that were named, but for this server's `own`.
pub(crate) fn places(named: &[u16], own: u16) -> Vec<Place> {
    let mut places: Vec<Place> = KNOWN.iter().map(|&(name, port)| Place { name: Some(name), port }).collect();
    for &port in named {
        if places.iter().all(|place| place.port != port) {
            places.push(Place { name: None, port });
        }
    }
    places.retain(|place| place.port != own);
    places
}

/// Returns what is found at each place: `models`, as the server lists them; `null` where nobody listens; or an `error`.
pub(crate) async fn found(client: &reqwest::Client, places: &[Place]) -> Value {
    let asked = places.iter().map(async |place| {
        let (models, error) = match listed(client, place.port).await {
            Ok(models) => (models, None),
            Err(error) => (Value::Null, Some(error)),
        };
        json!({"name": place.name, "port": place.port, "models": models, "error": error})
    });
    json!({"servers": join_all(asked).await})
}

async fn listed(client: &reqwest::Client, port: u16) -> Result<Value, String> {
    let asked = client.get(format!("http://127.0.0.1:{port}/v1/models")).timeout(TIME).send().await;
    let mut response = match asked {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Ok(Value::Null),
        Err(error) => return Err(error.without_url().to_string()),
    };
    if !response.status().is_success() {
        return Err(format!("it answers {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
        body.extend_from_slice(&piece);
        if body.len() > MAX_LIST {
            return Err("its list of models is larger than 1 MiB".to_owned());
        }
    }
    let wrong = || "it does not list models as OpenAI's protocol has it".to_owned();
    let mut list: Value = serde_json::from_slice(&body).map_err(|_| wrong())?;
    match list.get_mut("data").map(Value::take) {
        Some(data @ Value::Array(_)) => Ok(data),
        // Ollama without a model says `null`.
        Some(Value::Null) => Ok(json!([])),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_is_looked_at_once_and_its_own_never() {
        let ports = |named: &[u16], own| places(named, own).iter().map(|place| place.port).collect::<Vec<_>>();
        assert_eq!(ports(&[8000, 1234, 8000], 8080), [11434, 1234, 8000]);
        assert_eq!(ports(&[], 7327), [11434, 1234, 8080]);
    }
}
