//! Building the tree, bottom up.

use super::parameters::Raptor;
use super::retrieve::node_text;
use super::tree::{Summary, Tree};
use super::words::WordVectors;
use crate::Host;
use crate::cluster::two_step_clusters;
use crate::cost::Sizes;
use crate::read::messages;
use crate::{MethodError, Session, Stop};
use closeread_books::tokens::Tokenizer;
use closeread_embed::rows::Rows;
use closeread_eval::Outcome;
use closeread_eval::reading::{Expected, ExtractiveInput};
use closeread_prompts::readers::RaptorSummary;
use closeread_retrieve::IndexError;

/// The uppermost layer so far.
struct Layer {
    texts: Vec<String>,
    n_tokens: Vec<usize>,
    vectors: Vec<Vec<f32>>,
}

/// Clusters the leaves and has each cluster summarised, then the summaries, and so on, until a layer has at most
/// `reduction_dimension` + 1 nodes, or as many clusters as nodes, or `max_layers` layers stand on the leaves.
pub(super) async fn build<H: Host>(session: &mut Session<'_, H>, parameters: &Raptor) -> Result<Tree, Stop> {
    let index = session.index()?;
    let mut tree = Tree::of_passages(index);
    let texts: Vec<String> = session.texts(0..tree.leaves.len()).await?;
    let words = WordVectors::new(index.word_rule(), texts.iter().map(String::as_str));
    // Where passages are ranked by their words alone they are clustered by them too.
    let embedded = session.retriever().needs_vectors();
    let vectors = match embedded {
        true => index.vectors()?.ok_or(IndexError::NoVectors(session.retriever().name()))?,
        false => texts.iter().map(|text| words.vector(text)).collect(),
    };
    let mut layer = Layer { texts, n_tokens: index.n_tokens().to_vec(), vectors };
    while tree.layers.len() < parameters.max_layers
        && layer.texts.len() > parameters.reduction_dimension.saturating_add(1)
    {
        let rows = Rows::new(layer.vectors[0].len(), layer.vectors.concat());
        let clusters = two_step_clusters(&session.workers(), &rows, &layer.n_tokens, &parameters.clustering()).await;
        if clusters.len() >= layer.texts.len() {
            break;
        }
        let texts = summarize(session, &layer.texts, &clusters, parameters).await?;
        let vectors: Vec<Vec<f32>> = if embedded {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            session.embed_passages(&texts).await?.rows().map(<[f32]>::to_vec).collect()
        } else {
            texts.iter().map(|text| words.vector(text)).collect()
        };
        let first = tree.roots().start;
        let n_tokens: Vec<usize> = texts.iter().map(|text| session.settings().tokenizer.count(text)).collect();
        let summaries = clusters.into_iter().enumerate().map(|(idx, cluster)| Summary {
            text: texts[idx].clone(),
            n_tokens: n_tokens[idx],
            children: cluster.into_iter().map(|member| first + member).collect(),
            vector: if embedded { vectors[idx].clone() } else { Vec::new() },
        });
        tree.layers.push(summaries.collect());
        layer = Layer { texts, n_tokens, vectors };
    }
    session.measure("leaves", tree.leaves.len());
    session.measure("summaries", tree.summaries().count());
    for (height, layer) in (1..).zip(&tree.layers) {
        session.measure(&format!("summaries_in_layer_{height}"), layer.len());
    }
    if let Some(share) = tree.compression() {
        session.measure("compression", share);
    }
    Ok(tree)
}

/// Tokens of the prompt of a summary without the passages in it.
pub(super) fn around(sizes: &Sizes<'_>) -> Result<u64, MethodError> {
    sizes.prompt(&RaptorSummary { passages: "" })
}

/// Makes one summary a cluster, all asked at once.
async fn summarize<H: Host>(
    session: &mut Session<'_, H>,
    texts: &[String],
    clusters: &[Vec<usize>],
    parameters: &Raptor,
) -> Result<Vec<String>, Stop> {
    let (settings, language) = (session.settings(), session.language());
    let mut requests = Vec::with_capacity(clusters.len());
    for cluster in clusters {
        let passages: Vec<String> = cluster.iter().map(|&member| texts[member].clone()).collect();
        let joined = node_text(passages.iter().map(String::as_str));
        let asked = messages(&RaptorSummary { passages: joined.trim_end() }, settings.prompts, "")?;
        requests.push((asked, async move || Ok(ExtractiveInput::summary(passages, Expected::Node, language))));
    }
    let mut summaries = Vec::with_capacity(clusters.len());
    for (response, cluster) in session.ask_all(RaptorSummary::NAME, requests).await?.into_iter().zip(clusters) {
        let text = Expected::Node.parse(&[], 0, &response.text).into_text();
        if text.is_empty() {
            let more = |limit| format!("; a model that thinks may need a response limit of more than {limit} tokens");
            let more = settings.response_limit.sent().map(more).unwrap_or_default();
            let error = format!("the summary of {} passages came back empty{more}", cluster.len());
            return Err(Stop::Outcome(Outcome::Failed { error }));
        }
        summaries.push(beginning(settings.tokenizer, &text, parameters.summary_tokens).to_owned());
    }
    Ok(summaries)
}

/// The beginning of a text that has at most `most` tokens; a word cut in two can count more by itself, hence the search.
fn beginning<'t>(tokenizer: &Tokenizer, text: &'t str, most: usize) -> &'t str {
    let ends = tokenizer.token_ends(text);
    let beginnings = (1..=most.min(ends.len())).rev().map(|n| text[..ends[n - 1]].trim_end());
    beginnings.into_iter().find(|beginning| tokenizer.count(beginning) <= most).unwrap_or_default()
}
