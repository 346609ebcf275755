//! Messages on standard error: sentences, or a JSON object a line.

use clap::builder::styling::{AnsiColor, Style};
use clap::{ColorChoice, ValueEnum};
use closeread_terminal::one_message;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// How much is said on standard error, and how.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct LogArgs {
    /// Report every failing attempt of a call; twice: every call
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Print errors only, and no progress
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Form of messages: sentences, or a JSON object per line
    #[arg(long, global = true, value_name = "FORM", default_value = "text")]
    log: Form,
    /// Colours; auto: in a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl LogArgs {
    /// Begins to print events as the options have it.
    pub(crate) fn begin(self) {
        let level = match (self.quiet, self.verbose) {
            (true, _) => Level::ERROR,
            (_, 0) => Level::INFO,
            (_, 1) => Level::DEBUG,
            _ => Level::TRACE,
        };
        if self.quiet || self.log == Form::Json {
            closeread_terminal::hide_bars();
        }
        closeread_terminal::choose_colours(match self.color {
            ColorChoice::Auto => None,
            ColorChoice::Always => Some(true),
            ColorChoice::Never => Some(false),
        });
        let log = Log { level, form: self.log };
        tracing::subscriber::set_global_default(Registry::default().with(log)).expect("it is set once");
    }

    /// Returns how an error of the command line itself is printed: it is not parsed then.
    pub(crate) fn of_arguments() -> Self {
        let given: Vec<String> = arguments().collect();
        let json = given.iter().any(|one| one == "--log=json") || given.windows(2).any(|two| *two == ["--log", "json"]);
        let log = if json { Form::Json } else { Form::Text };
        Self { verbose: 0, quiet: false, log, color: color_of_arguments() }
    }

    /// Returns whether messages are JSON.
    pub(crate) fn is_json(self) -> bool {
        self.log == Form::Json
    }
}

/// Returns what `--color` says before the command line is parsed: its help and errors are coloured, too.
pub(crate) fn color_of_arguments() -> ColorChoice {
    let given: Vec<String> = arguments().take_while(|given| given != "--").collect();
    let apart = given.windows(2).filter(|two| two[0] == "--color").map(|two| two[1].as_str());
    let named = given.iter().filter_map(|one| one.strip_prefix("--color=")).chain(apart).last();
    named.and_then(|name| ColorChoice::from_str(name, true).ok()).unwrap_or_default()
}

/// Writes the events of closeread's own crates. Those of others are not written: they may hold headers, and keys in them.
struct Log {
    level: Level,
    form: Form,
}

/// The fields of a span, kept with it.
struct Fields(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.level && metadata.target().starts_with("closeread")
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(Map::new());
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        fields.0.values_mut().for_each(shorten);
        let spans = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let spans = spans.map(|span| {
            let about = span.extensions().get::<Fields>().map(|fields| fields.0.clone()).unwrap_or_default();
            (span.name(), about)
        });
        let (spans, metadata) = (spans.collect::<Vec<_>>(), event.metadata());
        match self.form {
            Form::Json => closeread_terminal::say(format_args!("{}\n", as_json(metadata, fields.0, spans))),
            Form::Text => {
                let (label, line) = (label(*metadata.level()), as_text(metadata, &fields.0, &spans));
                closeread_terminal::say_labelled(label, format_args!("{line}\n"));
            }
        }
    }
}

/// Bytes of what is said at once: an error can repeat a file that it could not read.
const LONGEST: usize = 16 << 10;

/// Leaves the beginning and the end of a text that nobody reads whole.
fn shorten(value: &mut Value) {
    let Value::String(text) = value else { return };
    if text.len() > LONGEST {
        let (head, tail) = (text.floor_char_boundary(LONGEST / 2), text.ceil_char_boundary(text.len() - LONGEST / 4));
        *text = format!("{} [... {} bytes ...] {}", &text[..head], tail - head, &text[tail..]);
    }
}

type Span = (&'static str, Map<String, Value>);

/// Time in seconds since 1970, level, place, message, fields; the spans from the outermost on, each with its name.
fn as_json(metadata: &Metadata<'_>, fields: Map<String, Value>, spans: Vec<Span>) -> String {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut line = json!({
        "time": time.as_millis() as f64 / 1000.0,
        "level": metadata.level().as_str().to_lowercase(),
        "target": metadata.target(),
    });
    if let Value::Object(line) = &mut line {
        line.extend(fields);
    }
    if !spans.is_empty() {
        let named = |(name, about): Span| {
            let mut span = Map::from_iter([("span".to_owned(), json!(name))]);
            span.extend(about);
            Value::Object(span)
        };
        line["spans"] = spans.into_iter().map(named).collect();
    }
    line.to_string()
}

/// Returns the label before a message that must not be missed, and its colour.
fn label(level: Level) -> Option<(&'static str, Style)> {
    let bold = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
    match level {
        Level::ERROR => Some(("error: ", bold(AnsiColor::Red))),
        Level::WARN => Some(("warning: ", bold(AnsiColor::Yellow))),
        _ => None,
    }
}

/// The message as a sentence; what is only said to who asks for it names what it is about.
fn as_text(metadata: &Metadata<'_>, fields: &Map<String, Value>, spans: &[Span]) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| one_message(text).into_owned());
    let message = fields.get("message").map(text).unwrap_or_default();
    let mut line = message;
    if let Some(hint) = fields.get("hint") {
        let _ = write!(line, "\nhint: {}", text(hint));
    }
    if *metadata.level() > Level::INFO {
        let about: Vec<String> = spans
            .iter()
            .filter(|(name, _)| *name != "run")
            .map(|(name, about)| format!("{name} {}", about.values().map(text).collect::<Vec<_>>().join(" ")))
            .collect();
        if !about.is_empty() {
            let _ = write!(line, " ({})", about.join(", "));
        }
    }
    line
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), json!(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), json!(value));
    }
}

/// Returns what was given on the command line, whatever bytes it holds.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|given| given.to_string_lossy().into_owned())
}
