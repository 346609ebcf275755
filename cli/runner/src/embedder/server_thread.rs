//! The thread that talks to an embedding server: it sends the requests of all other threads, once there is money for them.

use crate::spending::{Serving, Spending};
use closeread_books::tokens::Tokenizer;
use closeread_embed::Vectors;
use closeread_llm::HostError;
use closeread_llm::provider::TeiInfo;
use closeread_providers::{Asked, EmbeddingAccount, EmbeddingServer, Uncounted};
use futures_util::{StreamExt, stream};
use std::cell::Cell;
use std::future::ready;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use tokio::sync::mpsc::UnboundedReceiver;
use tracing::info;

/// Requests of one caller that wait or are under way at once; the throttle lets fewer through.
const REQUESTS: usize = 64;

/// One vector a text, and the tokens that the server counted. The request is in flight until what it took is counted.
pub(super) type Answer = (Asked<(Vectors, Option<u64>)>, Option<Serving>);

/// Spending that requests are charged to, and the tokenizer that counts their texts.
type Payer = (Arc<Spending>, Tokenizer);

/// A question to the server.
pub(super) enum Job {
    /// The vectors of several lists of texts, each with its number, as they come.
    Embed(Vec<(usize, Vec<String>)>, mpsc::Sender<(usize, Answer)>, Option<Payer>),
    /// A question for what the server says of itself.
    Info(mpsc::Sender<Result<Option<TeiInfo>, HostError>>),
}

/// Returns the tokens of all texts.
pub(super) fn tokens_of<'t>(tokenizer: &Tokenizer, texts: impl Iterator<Item = &'t str>) -> u64 {
    texts.map(|text| tokenizer.count(text) as u64).sum()
}

/// Serves the jobs of all threads on one, whose connections and throttle they share.
pub(super) fn work(account: EmbeddingAccount, mut jobs: UnboundedReceiver<Job>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            info!("cannot talk to the embedding server: {error}");
            return;
        }
    };
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let server = match EmbeddingServer::new(account) {
            Ok(server) => Rc::new(server),
            Err(error) => {
                info!("cannot talk to the embedding server: {error:#}");
                return;
            }
        };
        while let Some(job) = jobs.recv().await {
            tokio::task::spawn_local(serve(Rc::clone(&server), job));
        }
    });
}

async fn serve(server: Rc<EmbeddingServer>, job: Job) {
    match job {
        Job::Info(sender) => {
            // A receiver that is gone needs no answer.
            let _ = sender.send(server.info().await);
        }
        Job::Embed(lists, sender, payer) => {
            let (server, failed, payer) = (&server, &Cell::new(false), payer.as_ref());
            let mut answers = stream::iter(lists)
                .take_while(|_| ready(!failed.get()))
                .map(|(number, texts)| async move {
                    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                    let answer = asked(server, &texts, payer).await;
                    // Nothing more is sent; what is under way is paid, and kept.
                    failed.set(failed.get() || answer.0.result.is_err());
                    (number, answer)
                })
                .buffer_unordered(REQUESTS);
            while let Some(answer) = answers.next().await {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        }
    }
}

/// Asks for the vectors of texts, once there is money for them.
async fn asked(server: &EmbeddingServer, texts: &[&str], payer: Option<&Payer>) -> Answer {
    let Some((spending, tokenizer)) = payer else { return (server.vectors(texts, &Uncounted).await, None) };
    let count = || tokens_of(tokenizer, texts.iter().copied());
    match spending.serve(&server.account().name(), count, None).await {
        Ok(serving) => (server.vectors(texts, &serving).await, Some(serving)),
        Err(error) => (Asked { result: Err(error), lost: Vec::new() }, None),
    }
}
