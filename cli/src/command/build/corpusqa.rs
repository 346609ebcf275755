//! `closeread build corpusqa`: questions over whole collections of documents.

use super::args::BuildOptions;
use super::inputs::{DocumentInputs, refuse_inputs_within};
use super::say::{checked, finish, hand_checked, print_tables, show_costs, write};
use crate::values::{each_once, name_in_files};
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_build::corpusqa::{
    AnswerKind, Corpus, CorpusQa, Crew, DocumentSet, EXPAND_STAGES, Entity, Length, PROMPTS, Record, Row, STAGES,
    Schema, Sources, TABLE_PROMPTS, TABLE_STAGES, Template, gold_again, records,
};
use closeread_build::{BuildError, Building, corpusqa};
use closeread_builder::by_hand::write_cells;
use closeread_builder::context::BuildContext;
use closeread_builder::database::Sqlite;
use closeread_builder::folder::BuildFolder;
use closeread_builder::global_table::{DATABASE, read_entity, read_schema, read_table, stored_table, write_table};
use closeread_builder::hashes;
use closeread_builder::published::write_published;
use closeread_eval::Item;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::corpusqa::{Reading, agrees};
use closeread_files::{read_lines, write_atomically};
use closeread_runner::host::Repetition;
use closeread_runner::journal::Journal;
use closeread_runner::texts::BookTexts;
use closeread_text::hash::sha256;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::{info, warn};

/// Message on what --dry-run cannot know of the questions.
const QUESTIONS_UNKNOWN: &str = "how many sets are filled and how many questions they give is not known before: all of --lengths with all --questions are reckoned with";

/// Questions over whole collections of documents, answered from a table (CorpusQA, section 3)
///
/// Stages: documents, fields, votes, columns, extraction, consensus, table, sets, queries, paraphrases, sql. With --table:
/// documents, rows, table, sets, queries, paraphrases, sql; without --model questions and SQL are then the templates' own.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusQaArgs {
    #[command(flatten)]
    documents: DocumentInputs,
    /// A ready table in CSV, instead of extraction: the first column is the name, a column `document` may name documents
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// The columns as JSON: key, title, type and unit of each [default: proposed by the model; with --table, guessed
    /// from its values]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Name of a row in questions, singular and plural [default: from the schema, or entity,entities]
    #[arg(long, value_name = "ONE,MANY", value_parser = read_entity)]
    entity: Option<Entity>,
    /// Query templates in TOML, instead of those that ship
    #[arg(long, value_name = "FILE")]
    templates: Option<PathBuf>,
    /// The models that extract values; three in the paper [default: --model]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    extractor: Vec<String>,
    /// Times that each extractor reads each document
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    queries: u16,
    /// Keep documents and lines in which a value is missing
    #[arg(long)]
    allow_missing: bool,
    /// Minimum tokens of a document
    #[arg(long, value_name = "N", default_value_t = 10_240)]
    least_tokens: usize,
    /// Minimum numbers per 1,000 tokens of a document
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    least_density: f64,
    /// Minimum table lines in a document
    #[arg(long, value_name = "N", default_value_t = 1)]
    least_table_rows: usize,
    /// Lengths of the sets of documents in tokens; `all` takes all documents
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "128K,1M,4M,10M")]
    lengths: Vec<Length>,
    /// Sets of each length; one of `all`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    sets: u16,
    /// Minimum share of a set's length to fill, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 70, value_parser = clap::value_parser!(u8).range(0..=100))]
    coverage: u8,
    /// Questions on each set
    #[arg(long, value_name = "N", default_value_t = 24)]
    questions: usize,
    /// Minimum share of a set's documents that an answer depends on, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    dispersion: u8,
    /// Maximum names in an answer
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    longest_list: u16,
    /// Maximum share of a set's questions whose answer is an empty list or zero, in percent [default: no limit, as in
    /// the paper]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    most_empty: Option<u8>,
    /// Prefix of the items' ids, and their label, such as financial_en
    #[arg(long, value_name = "NAME", default_value = "corpus", value_parser = name_in_files)]
    domain: String,
    /// Build no benchmark: have --model write N new templates from each of --templates, try them on an invented table,
    /// and write all to OUT/templates.toml, for --templates
    #[arg(long, value_name = "N")]
    expand: Option<u16>,
    /// Run the SQL of every item in the folder again and compare
    #[arg(long)]
    check_sql: bool,
    /// Values that people read, as in check/cells.csv: print how often the extracted values agree with them at first
    #[arg(long, value_name = "FILE")]
    hand_checked: Option<PathBuf>,
    /// With --hand-checked: a second person's decisions in check/disputes.csv; prints the agreement before and after
    #[arg(long, value_name = "FILE", requires = "hand_checked")]
    adjudicated: Option<PathBuf>,
    /// Also write the questions in the published layout, a file for each set: id, prompt, question, answer
    #[arg(long, value_name = "NAME", value_parser = ["corpusqa"])]
    write: Option<String>,
    #[command(flatten)]
    build: BuildOptions,
}

impl CorpusQaArgs {
    fn parameters(&self) -> CorpusQa {
        CorpusQa {
            least_tokens: self.least_tokens,
            least_density: self.least_density,
            least_table_rows: self.least_table_rows,
            queries: self.queries.into(),
            allow_missing: self.allow_missing,
            lengths: self.lengths.clone(),
            copies: self.sets.into(),
            fill: self.coverage,
            per_set: self.questions,
            dispersion: self.dispersion,
            longest_list: self.longest_list.into(),
            most_empty: self.most_empty,
            domain: self.domain.clone(),
            seed: self.build.seed,
        }
    }

    fn templates(&self) -> Result<Vec<Template>> {
        let Some(path) = &self.templates else { return Ok(Template::built_in()) };
        let text = closeread_files::read_text_file(path)
            .with_context(|| format!("cannot read --templates {}", path.display()))?;
        Template::read(&text).with_context(|| format!("cannot use --templates {}", path.display()))
    }
}

/// Builds, estimates, reads a check back or runs the SQL again.
pub(crate) async fn run(mut args: CorpusQaArgs) -> Result<ExitCode> {
    args.extractor = each_once(&args.extractor);
    let build = &args.build;
    if !build.checked.is_empty() {
        return checked(build);
    }
    if let Some(file) = &args.hand_checked {
        return hand_checked(build, file, args.adjudicated.as_deref());
    }
    if args.check_sql {
        return check_sql(build);
    }
    if let Some(n) = args.expand {
        return expand(&args, n.into()).await;
    }
    let mut schema = args.schema.as_deref().map(read_schema).transpose()?;
    if let (Some(schema), Some(entity)) = (&mut schema, &args.entity) {
        schema.entity = entity.clone();
    }
    refuse_inputs_within(&build.out, [&args.table, &args.schema].into_iter().flatten())?;
    let books = args.documents.read(&build.out)?;
    let (parameters, templates) = (args.parameters(), args.templates()?);
    if let Some(path) = &args.table {
        let (mut schema, lines) = read_table(path, schema)?;
        if let Some(entity) = &args.entity {
            schema.entity = entity.clone();
        }
        return from_table(&args, &books, &schema, lines, &templates, &parameters).await;
    }
    from_documents(&args, &books, schema.as_ref(), &templates, &parameters).await
}

/// Expands the templates by a model (section 3.3, step 3).
async fn expand(args: &CorpusQaArgs, n: usize) -> Result<ExitCode> {
    let (build, templates) = (&args.build, args.templates()?);
    let model = build.model()?;
    let mut context = build.context("corpusqa", &[model])?;
    if build.dry_run {
        let stages = corpusqa::expand_cost(context.setting(), &templates, n)?;
        let stages: Vec<_> = stages.into_iter().map(|stage| (stage, model)).collect();
        return show_costs(&stages, &[], &context, build);
    }
    let more = json!({"n": n, "templates": sha256(&serde_json::to_vec(&templates)?)});
    let prompts = ["corpusqa-templates", "build-again"];
    let configuration = build.configuration("corpusqa templates", &context, &prompts, more);
    let folder = build.folder(&EXPAND_STAGES, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let writer = context.host(model, &journal, None);
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let database = Sqlite::default();
    let work = corpusqa::expand(&writer, context.setting(), building, &database, &templates, n);
    finish(&folder, &journal, &context, work, |(new, funnel)| {
        let path = folder.path().join("templates.toml");
        let all: Vec<Template> = templates.iter().chain(&new).cloned().collect();
        write_atomically(&path, Template::written(&all).as_bytes())?;
        if build.json {
            outln!("{}", json!({"funnel": funnel.rows, "templates": all.len(), "new": new}));
        } else {
            print_tables(&[funnel.table()])?;
        }
        info!(
            "{} new templates beside {}; --templates {} builds with all of them",
            new.len(),
            templates.len(),
            path.display()
        );
        Ok(if new.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    })
    .await
}

async fn from_documents(
    args: &CorpusQaArgs,
    books: &[Arc<Book>],
    schema: Option<&Schema>,
    templates: &[Template],
    parameters: &CorpusQa,
) -> Result<ExitCode> {
    let build = &args.build;
    let model = build.model()?;
    let extractors: Vec<&str> = match args.extractor.is_empty() {
        true => vec![model],
        false => args.extractor.iter().map(String::as_str).collect(),
    };
    if extractors.len() * parameters.queries < 2 {
        bail!(
            "one model that reads a document once agrees with nobody: name several with --extractor, or say --queries 2"
        );
    }
    if extractors.iter().collect::<BTreeSet<_>>().len() == 1 {
        warn!("only {} extracts values: the paper asks three models; name others with --extractor", extractors[0]);
    }
    let mut models = vec![model];
    models.extend(&extractors);
    let mut context = build.context("corpusqa", &models)?;
    if build.dry_run {
        let mut stages = Vec::new();
        for cost in corpusqa::cost(context.setting(), books, schema, parameters)? {
            match cost.stage {
                "votes" | "extraction" => stages.extend(extractors.iter().map(|name| (cost.clone(), *name))),
                _ => stages.push((cost, model)),
            }
        }
        let columns =
            "how many columns the documents give is not known before: 12 are reckoned with, or those of --schema";
        return show_costs(&stages, &[columns, QUESTIONS_UNKNOWN], &context, build);
    }
    let more = json!({
        "extractors": extractors, "parameters": parameters, "documents": hashes(books), "schema": schema,
        "templates": sha256(&serde_json::to_vec(templates)?),
    });
    let configuration = build.configuration("corpusqa", &context, &PROMPTS, more);
    let folder = build.folder(&STAGES, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let host = |model: &str| context.host(model, &journal, None);
    let writer = host(model);
    let hosts: Vec<_> = extractors.iter().map(|name| (*name, host(name))).collect();
    let crew = Crew { writer: Some(&writer), extractors: hosts.iter().map(|(name, host)| (*name, host)).collect() };
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let database = Sqlite::default();
    let given = Sources { books, schema, templates };
    let work = corpusqa::corpusqa(&crew, context.setting(), building, &database, given, parameters);
    ended(&folder, &journal, &context, args, books, work).await
}

async fn from_table(
    args: &CorpusQaArgs,
    books: &[Arc<Book>],
    schema: &Schema,
    lines: Vec<Record>,
    templates: &[Template],
    parameters: &CorpusQa,
) -> Result<ExitCode> {
    let build = &args.build;
    let model = build.model.as_ref().map(|_| build.model()).transpose()?;
    let mut context = build.context("corpusqa", model.as_slice())?;
    if build.dry_run {
        let stages = match model {
            Some(_) => corpusqa::cost_from_table(context.setting(), schema, parameters)?,
            None => Vec::new(),
        };
        let stages: Vec<_> = stages.into_iter().map(|stage| (stage, model.unwrap_or_default())).collect();
        let unknown = if model.is_some() { QUESTIONS_UNKNOWN } else { "without --model nobody is asked" };
        return show_costs(&stages, &[unknown], &context, build);
    }
    let lines = records(lines);
    let more = json!({
        "parameters": parameters, "documents": hashes(books), "schema": schema,
        "table": sha256(&serde_json::to_vec(&lines)?), "templates": sha256(&serde_json::to_vec(templates)?),
    });
    let configuration = build.configuration("corpusqa from a table", &context, &TABLE_PROMPTS, more);
    let folder = build.folder(&TABLE_STAGES, &configuration)?;
    context.charge_to(&folder, None)?;
    let journal = folder.journal()?;
    let writer: Option<Repetition<'_>> = model.map(|model| context.host(model, &journal, None));
    let building = Building::new(&folder, build.concurrency, build.until.as_deref());
    let (database, given) = (Sqlite::default(), (books, schema, templates));
    let work = corpusqa::from_table(writer.as_ref(), context.setting(), building, &database, given, &lines, parameters);
    ended(&folder, &journal, &context, args, books, work).await
}

async fn ended(
    folder: &BuildFolder,
    journal: &Journal,
    context: &BuildContext,
    args: &CorpusQaArgs,
    books: &[Arc<Book>],
    work: impl Future<Output = Result<Corpus, BuildError>>,
) -> Result<ExitCode> {
    let build = &args.build;
    finish(folder, journal, context, work, |corpus| {
        write_table(folder.path(), &corpus)?;
        let code = write(folder, build, "corpusqa", (books, &BookTexts::default()), &corpus.built)?;
        write_cells(folder.path(), &corpus, build.check, build.seed)?;
        if args.write.is_some() {
            let written =
                write_published(folder.path(), books, &corpus.built.items, context.setting().prompts, folder.canary())?;
            info!("{} are in the published layout", written.join(", "));
        }
        if !corpus.schema.columns.is_empty() {
            let n_rows = corpus.rows.len();
            info!("the table of {n_rows} rows is in {} and beside it", folder.path().join(DATABASE).display());
        }
        Ok(code)
    })
    .await
}

/// Runs the SQL of every item on the table in the folder. Exits with 1 if an answer is another one.
fn check_sql(build: &BuildOptions) -> Result<ExitCode> {
    let (schema, rows) = stored_table(&build.out)?;
    let items: Vec<Item> = read_lines(&build.out.join("items.jsonl"), "an item")?;
    let bytes = closeread_files::read_file(build.out.join("sets.json")).context("cannot read sets.json")?;
    let sets: BTreeMap<String, DocumentSet> = serde_json::from_slice(&bytes).context("sets.json is damaged")?;
    let by_name: HashMap<&str, &Row> = rows.iter().map(|row| (row.name.as_str(), row)).collect();
    let database = Sqlite::default();
    let (mut same, mut differ) = (0, Vec::new());
    for item in &items {
        match again(item, &schema, &sets, &by_name, &database) {
            Ok(()) => same += 1,
            Err(why) => differ.push(format!("{}: {why}", item.id)),
        }
    }
    if build.json {
        outln!("{}", json!({"items": items.len(), "same": same, "differ": differ}));
    } else {
        outln!("{same} of {} answers are what their SQL gives", items.len());
        for line in &differ {
            outln!("{line}");
        }
    }
    Ok(if differ.is_empty() && !items.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn again(
    item: &Item,
    schema: &Schema,
    sets: &BTreeMap<String, DocumentSet>,
    by_name: &HashMap<&str, &Row>,
    database: &Sqlite,
) -> Result<(), String> {
    let text = |name: &str| {
        let value = item.other.get(name).and_then(|value| value.as_str());
        value.ok_or_else(|| format!("it has no `{name}`: expected an item of build corpusqa"))
    };
    let (sql, set) = (text("sql")?, text("set")?);
    let rows = &sets.get(set).ok_or_else(|| format!("there is no set `{set}` in sets.json"))?.rows;
    let rows: Vec<&Row> = rows.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect();
    let kind = item.labels.get("answer_type").cloned().unwrap_or_default();
    let kind: AnswerKind =
        serde_json::from_value(json!(kind)).map_err(|error| format!("its label answer_type: {error}"))?;
    let found = gold_again(database, set, schema, &rows, sql, kind).map_err(|error| error.to_string())?;
    match item.answers.first() {
        Some(gold) if agrees(&found, gold, Reading::Strict) == Parsed::Answer(true) => Ok(()),
        gold => Err(format!("its answer is {}, its SQL gives {found}", gold.map_or("nothing", String::as_str))),
    }
}
