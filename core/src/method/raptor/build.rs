//! Building the tree, bottom up.

use super::words::WordVectors;
use super::{Asking, End, Raptor, Summary, Tree, node_text};
use crate::answer::after_thinking;
use crate::cluster::two_step_clusters;
use crate::host::{Host, Message};
use crate::index::ShelfError;
use crate::method::Material;
use crate::reader::Reading;
use crate::record::Outcome;
use crate::rows::Rows;
use crate::text::tokens::Tokenizer;
use serde_json::json;

const PROMPT: &str = "raptor-summary";
/// Words of English, or characters of Chinese, in a token: what the prompt asks for, since no model counts tokens.
const WORDS_PER_TOKEN: f64 = 0.75;

/// The uppermost layer so far.
struct Layer {
    texts: Vec<String>,
    n_tokens: Vec<usize>,
    vectors: Vec<Vec<f32>>,
}

/// Clusters the leaves and has each cluster summarised, then the summaries, and so on, until a layer has at most
/// `reduction_dimension` + 1 nodes, or as many clusters as nodes, or `max_layers` layers stand on the leaves.
pub(super) async fn build<H: Host>(
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    parameters: &Raptor,
) -> Result<Tree, End> {
    let shelf = material.shelf();
    let mut tree = Tree::of_passages(shelf);
    let texts: Vec<String> = shelf.texts(0..tree.leaves.len());
    let words = WordVectors::new(shelf.word_rule(), texts.iter().map(String::as_str));
    // Where passages are ranked by their words alone they are clustered by them too.
    let embedded = material.retriever.needs_vectors();
    let vectors = match embedded {
        true => shelf.vectors()?.ok_or(ShelfError::NoVectors(material.retriever.name()))?,
        false => texts.iter().map(|text| words.vector(text)).collect(),
    };
    let mut layer = Layer { texts, n_tokens: shelf.n_tokens().to_vec(), vectors };
    while tree.layers.len() < parameters.max_layers && layer.texts.len() > parameters.reduction_dimension + 1 {
        let rows = Rows::new(layer.vectors[0].len(), layer.vectors.concat());
        let clusters = two_step_clusters(&asking.workers(), &rows, &layer.n_tokens, &parameters.clustering()).await;
        if clusters.len() >= layer.texts.len() {
            break;
        }
        let texts = summarize(asking, material.language(), &layer.texts, &clusters, parameters).await?;
        let vectors: Vec<Vec<f32>> = if embedded {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            asking.embed_passages(&texts).await?.rows().map(<[f32]>::to_vec).collect()
        } else {
            texts.iter().map(|text| words.vector(text)).collect()
        };
        let first = tree.roots().start;
        let n_tokens: Vec<usize> = texts.iter().map(|text| asking.setting().tokenizer.count(text)).collect();
        let summaries = clusters.into_iter().enumerate().map(|(idx, cluster)| Summary {
            text: texts[idx].clone(),
            n_tokens: n_tokens[idx],
            children: cluster.into_iter().map(|member| first + member).collect(),
            vector: if embedded { vectors[idx].clone() } else { Vec::new() },
        });
        tree.layers.push(summaries.collect());
        layer = Layer { texts, n_tokens, vectors };
    }
    asking.measures.insert("leaves".to_owned(), tree.leaves.len() as f64);
    asking.measures.insert("summaries".to_owned(), tree.summaries().count() as f64);
    for (height, layer) in (1..).zip(&tree.layers) {
        asking.measures.insert(format!("summaries_in_layer_{height}"), layer.len() as f64);
    }
    asking.measures.extend(tree.compression().map(|share| ("compression".to_owned(), share)));
    Ok(tree)
}

/// One summary a cluster, all asked at once.
async fn summarize<H: Host>(
    asking: &mut Asking<'_, H>,
    language: &str,
    texts: &[String],
    clusters: &[Vec<usize>],
    parameters: &Raptor,
) -> Result<Vec<String>, End> {
    let setting = asking.setting();
    let length = (parameters.summary_tokens as f64 * WORDS_PER_TOKEN) as usize;
    let mut requests = Vec::with_capacity(clusters.len());
    for cluster in clusters {
        let passages: Vec<String> = cluster.iter().map(|&member| texts[member].clone()).collect();
        let joined = node_text(passages.iter().map(String::as_str));
        let variables = json!({ "passages": joined.trim_end(), "length": length.max(1) });
        let message = Message::user(setting.prompts.render(PROMPT, &variables)?);
        let reading = Reading::summary(passages, language);
        requests.push((vec![message], Some(reading)));
    }
    let mut summaries = Vec::with_capacity(clusters.len());
    for (reply, cluster) in asking.ask_all(PROMPT, requests).await?.into_iter().zip(clusters) {
        let text = after_thinking(&reply.text).trim();
        if text.is_empty() {
            let (n, limit) = (cluster.len(), setting.max_output_tokens);
            let error = format!(
                "the summary of {n} passages came back empty; a model that thinks may need more than {limit} tokens \
                 (--max-output-tokens)"
            );
            return Err(End::Outcome(Outcome::Failed { error }));
        }
        summaries.push(beginning(setting.tokenizer, text, parameters.summary_tokens).to_owned());
    }
    Ok(summaries)
}

/// The beginning of a text that has at most `most` tokens; a word cut in two can count more by itself, hence the search.
fn beginning<'t>(tokenizer: &Tokenizer, text: &'t str, most: usize) -> &'t str {
    let ends = tokenizer.token_ends(text);
    let beginnings = (1..=most.min(ends.len())).rev().map(|n| text[..ends[n - 1]].trim_end());
    beginnings.into_iter().find(|beginning| tokenizer.count(beginning) <= most).unwrap_or_default()
}
