//! Declarations of TypeScript, as ts-rs makes them of Rust types and as people write them.

use std::collections::{BTreeMap, BTreeSet};
use ts_rs::{Config, TS, TypeVisitor};

/// Declarations, each type once.
pub(crate) struct Declarations {
    config: Config,
    names: BTreeSet<String>,
    /// What is declared since the last file, by name: ts-rs visits the parts of a type in no order.
    declared: BTreeMap<String, String>,
}

impl Default for Declarations {
    fn default() -> Self {
        Self { config: Config::new().with_large_int("number"), names: BTreeSet::new(), declared: BTreeMap::new() }
    }
}

impl Declarations {
    /// Declares a type, and those it is made of.
    pub(crate) fn add<T: TS + 'static + ?Sized>(&mut self) -> &mut Self {
        self.visit::<T>();
        self
    }

    /// Declares the type of options, of which each may be left out.
    pub(crate) fn add_options<T: TS + 'static>(&mut self) -> &mut Self {
        T::visit_dependencies(self);
        let declared = format!("type {} = Partial<{}>;", T::ident(&self.config), T::inline(&self.config));
        self.put(T::ident(&self.config), T::docs(), &declared);
        self
    }

    /// Fields that may be left out are never null: serde leaves out what is absent.
    fn put(&mut self, name: String, docs: Option<String>, declared: &str) {
        let certain = |field: &str| match field.contains("?: ") {
            true => field.trim_end_matches(" | null").to_owned(),
            false => field.to_owned(),
        };
        let declared = declared.split(", ").map(certain).collect::<Vec<_>>().join(", ");
        self.declared.insert(name, laid_out(&format!("{}export {declared}", docs.unwrap_or_default())));
    }

    /// The text of a file with what was declared since the last one.
    pub(super) fn file(&mut self) -> String {
        let first = "// Generated from the Rust types: UPDATE_EXPECT=1 and the test `typescript` write it anew.\n";
        format!("{first}{}", std::mem::take(&mut self.declared).into_values().collect::<String>())
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types without a file of their own are TypeScript's: numbers, texts, lists.
        if T::output_path().is_some() && self.names.insert(T::ident(&self.config)) {
            T::visit_dependencies(self);
            self.put(T::ident(&self.config), T::docs(), &T::decl(&self.config));
        } else {
            T::visit_generics(self);
        }
    }
}

/// A declaration with a field a line, as people write it.
fn laid_out(declared: &str) -> String {
    let (mut text, mut depth) = ("\n".to_owned(), 0_usize);
    let mut lines = declared.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = "    ".repeat(depth);
        if line != "/**" {
            let (last, closing) = field_and_end(line).filter(|_| depth > 0).unwrap_or((line, ""));
            if closing.is_empty() {
                text += &format!("{indent}{}\n", last.trim_end());
            } else {
                text += &format!("{indent}{last},\n{}{}\n", "    ".repeat(depth - 1), closing.trim_end());
            }
            depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
            continue;
        }
        let comment: Vec<&str> = lines.by_ref().take_while(|line| *line != " */").collect();
        let comment: Vec<String> = comment.iter().map(|line| plain(line.trim_start_matches(" *").trim())).collect();
        match comment.as_slice() {
            [one] => text += &format!("{indent}/** {one} */\n"),
            many => {
                let many = many.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
                text += &format!("{indent}/**\n{}{indent} */\n", many.collect::<String>());
            }
        }
    }
    text
}

/// The last field of a type whose brace was opened lines ago, and what closes it.
fn field_and_end(line: &str) -> Option<(&str, &str)> {
    let ends = line.match_indices(", }").map(|(at, _)| line.split_at(at));
    let closes_more = |(field, _): &(&str, &str)| field.matches('{').count() == field.matches('}').count();
    ends.into_iter().find(closes_more).map(|(field, end)| (field, &end[2..]))
}

/// A line of documentation without rustdoc's links, in JavaScript's words.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, behind)) = link.split_once(']') else { break };
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        match (target, words.starts_with('`')) {
            (Some((_, behind)), _) => (text, rest) = (format!("{text}{before}{words}"), behind),
            (None, true) => (text, rest) = (format!("{text}{before}{words}"), behind),
            (None, false) => (text, rest) = (format!("{text}{before}[{words}]"), behind),
        }
    }
    (text + rest).replace("`None`", "`null`")
}
