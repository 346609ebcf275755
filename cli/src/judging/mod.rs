//! Judging the trials of a run: who is asked what, one line of `judgements.jsonl` each.

mod options;
mod store;

pub(crate) use options::{JudgeOptions, MAX_OUTPUT_TOKENS};
pub(crate) use store::{JUDGEMENTS, JUDGING, merge, read};

use crate::host::CliHost;
use crate::interrupt;
use crate::progress::Progress;
use crate::provider::{Options, Reader};
use crate::reply_cache::ReplyCache;
use anyhow::{Context, Result};
use closeread_core::benchmark::{Item, resolve_chunk};
use closeread_core::judge::{BUILTIN_RULE, Judge, Judgement, JudgementKey, Panel, Said, Subject, Submission, cited};
use closeread_core::method::Setting;
use closeread_core::prompt::Prompts;
use closeread_core::record::Record;
use closeread_core::report::docket;
use closeread_core::text::tokens::Tokenizer;
use closeread_core::text::{Book, Locator};
use futures_util::{StreamExt, stream};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use store::Judgements;

/// A panel with the hosts that reach its members.
pub(crate) struct Court<'a> {
    panel: Panel,
    prompts: &'a Prompts,
    tokenizer: &'a Tokenizer,
    hosts: HashMap<String, CliHost>,
    concurrency: usize,
}

/// What is judged: the trials of a run with the items and books they are about.
pub(crate) struct Docket<'a> {
    /// The items.
    pub(crate) items: &'a [Item],
    /// The trials.
    pub(crate) records: &'a [Record],
    /// The books by id; those that cannot be read are not there.
    pub(crate) books: HashMap<&'a str, &'a Arc<Book>>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Session {
    /// Ctrl-C ended it.
    pub(crate) interrupted: bool,
    /// Calls that failed for good; they are asked again in the next session.
    pub(crate) failed: usize,
    /// Items whose chunk cannot be found, so that their summaries cannot be judged.
    pub(crate) without_chunk: usize,
}

/// What a judge is told of an item's work.
struct Work {
    title: String,
    language: String,
    chunk: String,
}

impl<'a> Court<'a> {
    /// The panel that the options ask for, for a benchmark with these items.
    pub(crate) fn new(
        options: &JudgeOptions,
        benchmark: &str,
        items: &[Item],
        prompts: &'a Prompts,
        tokenizer: &'a Tokenizer,
    ) -> Result<Self> {
        let panel = options.panel(benchmark, items, prompts)?;
        let provider = Options {
            seed: options.seed,
            extra_body: options.extra_body.clone(),
            timeout: options.timeout,
            concurrency: options.concurrency,
        };
        let replies = Rc::new(if options.no_cache { ReplyCache::new(None) } else { ReplyCache::of_user() });
        let mut hosts = HashMap::new();
        for model in panel.models.iter().filter(|model| *model != BUILTIN_RULE) {
            let reader = Reader::named(model, options.base_url.as_deref(), provider.clone())?;
            hosts.insert(model.clone(), CliHost::new(reader, Rc::clone(&replies)));
        }
        Ok(Self { panel, prompts, tokenizer, hosts, concurrency: options.concurrency })
    }

    /// Asks every member what has not been asked yet, and appends each verdict to the folder; the caller holds its lock.
    pub(crate) async fn sit(&self, folder: &Path, docket: &Docket<'_>) -> Result<Session> {
        store::note_panel(folder, &self.panel)?;
        let mut judgements = Judgements::open(folder)?;
        let open = self.open(docket, &judgements);
        let (works, without_chunk) = works(docket, &open);
        let open: Vec<JudgementKey> =
            open.into_iter().filter(|key| works.contains_key(key.subject.item.as_str())).collect();
        let items: HashMap<&str, &Item> = docket.items.iter().map(|item| (item.id.as_str(), item)).collect();
        let records: HashMap<Subject, &Record> =
            docket.records.iter().map(|record| (Subject::from(&record.key), record)).collect();
        let progress = Progress::new("judgements", open.len());
        let stop = Cell::new(false);
        let mut session = Session { without_chunk, ..Session::default() };
        let work = async {
            let mut heard = stream::iter(open.into_iter().take_while(|_| !stop.get()))
                .map(|key| {
                    let item = items[key.subject.item.as_str()];
                    let (record, work) = (records.get(&key.subject).copied(), &works[item.id.as_str()]);
                    self.hear(key, item, record, work)
                })
                .buffer_unordered(self.concurrency);
            while let Some(judgement) = heard.next().await {
                let judgement = judgement?;
                session.failed += usize::from(store::is_failed(&judgement));
                judgements.append(judgement)?;
                progress.tick();
            }
            anyhow::Ok(())
        };
        tokio::select! {
            result = work => result?,
            () = interrupt::watch(&stop, &progress) => {}
        }
        progress.finish();
        judgements.sync()?;
        session.interrupted = stop.get();
        Ok(session)
    }

    /// What is still to be asked, the questions on an item together.
    fn open(&self, docket_of: &Docket<'_>, judgements: &Judgements) -> Vec<JudgementKey> {
        let mut open = Vec::new();
        for (judge, subjects) in docket(&self.panel, docket_of.items, docket_of.records) {
            for subject in subjects {
                for (model, vote) in self.panel.members_for(judge) {
                    let setup = self.panel.setup(judge, model);
                    let key =
                        JudgementKey { subject: subject.clone(), judge, judge_model: model.to_owned(), vote, setup };
                    if !judgements.is_done(&key) {
                        open.push(key);
                    }
                }
            }
        }
        open.sort();
        open
    }

    async fn hear(&self, key: JudgementKey, item: &Item, record: Option<&Record>, work: &Work) -> Result<Judgement> {
        let submission = Submission {
            item,
            title: &work.title,
            language: &work.language,
            said: record.map_or(Said::Nothing, |record| Said::of(&record.outcome)),
            cited: record.map(cited).unwrap_or_default(),
            chunk: &work.chunk,
        };
        if key.judge_model == BUILTIN_RULE {
            let verdict = key.judge.by_rule(&submission).context("a panel asks the rule only what it can say")?;
            return Ok(Judgement { key, verdict, calls: Vec::new() });
        }
        let setting = Setting {
            prompts: self.prompts,
            tokenizer: self.tokenizer,
            max_output_tokens: self.panel.max_output_tokens,
            temperature: self.panel.temperature,
            window: None,
        };
        let host = &self.hosts[&key.judge_model].repetition(key.vote, None);
        let heard = key.judge.ask(host, setting, &submission).await;
        let heard = heard.with_context(|| format!("{} on item `{}`", key.judge.name(), item.id))?;
        Ok(Judgement { key, verdict: heard.verdict, calls: heard.calls })
    }
}

/// What the judges of these items are told of their works, and how many items with key facts are left out because their
/// chunk cannot be found, which is said.
fn works<'a>(docket: &Docket<'a>, open: &[JudgementKey]) -> (HashMap<&'a str, Work>, usize) {
    let wanted: HashSet<&str> = open.iter().map(|key| key.subject.item.as_str()).collect();
    let needs_chunk: HashSet<&str> =
        open.iter().filter(|key| key.judge == Judge::VerifyFacts).map(|key| key.subject.item.as_str()).collect();
    let (mut works, mut without_chunk) = (HashMap::new(), 0);
    for item in docket.items.iter().filter(|item| wanted.contains(item.id.as_str())) {
        let books: Vec<&Arc<Book>> =
            item.documents.iter().filter_map(|id| docket.books.get(id.as_str()).copied()).collect();
        let mut chunk = String::new();
        if let Some(facts) = item.key_facts.as_ref().filter(|_| needs_chunk.contains(item.id.as_str())) {
            let found = match docket.books.get(facts.document.as_str()) {
                Some(book) => book.open().map_err(anyhow::Error::from).and_then(|open| {
                    let span = resolve_chunk(facts, &Locator::new(open.source()))?;
                    Ok(open.flow().from_source(span).map(|flow| open.flow().text()[flow.range()].to_owned()))
                }),
                None => Err(anyhow::anyhow!("its document `{}` cannot be read", facts.document)),
            };
            match found {
                Ok(Some(text)) => chunk = text,
                Ok(None) | Err(_) => {
                    let why = found.err().map_or_else(|| "it is empty".to_owned(), |error| format!("{error:#}"));
                    eprintln!(
                        "item `{}`: the chunk of its key facts is not found, so its summaries are not judged: {why}",
                        item.id
                    );
                    without_chunk += 1;
                    continue;
                }
            }
        }
        let title = match books.as_slice() {
            [one] => one.title.clone(),
            _ => String::new(),
        };
        let language = books.first().map_or("en", |book| book.language.code()).to_owned();
        works.insert(item.id.as_str(), Work { title, language, chunk });
    }
    (works, without_chunk)
}
