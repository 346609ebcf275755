//! The binary in a folder of its own.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fresh working folder; the cache of embeddings is shared by all tests, as a user's is by all runs.
pub(crate) struct Sandbox {
    pub(crate) dir: tempfile::TempDir,
    own_cache: bool,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), own_cache: false }
    }

    /// Makes a sandbox with a cache of its own, for what is replied by a server that lives as long as the test.
    pub(crate) fn with_own_cache() -> Self {
        Self { own_cache: true, ..Self::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.dressed(Command::new(env!("CARGO_BIN_EXE_closeread")), args)
    }

    /// The binary started by bash once it has run `first`.
    pub(crate) fn command_after(&self, first: &str, args: &[&str]) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_closeread")]);
        self.dressed(bash, args)
    }

    fn dressed(&self, mut command: Command, args: &[&str]) -> Command {
        let cache =
            if self.own_cache { self.path("cache") } else { Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache") };
        command.current_dir(self.dir.path()).args(args).env("CLOSEREAD_CACHE", cache);
        command.env("CLOSEREAD_MODELS", self.path("models")).env("CLOSEREAD_CONFIG", self.path("config"));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        Ended(self.command(args).output().unwrap())
    }
}

/// The end of a command.
pub(crate) struct Ended(pub(crate) Output);

impl Ended {
    pub(crate) fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.0.status.code(), Some(code), "stdout:\n{}\nstderr:\n{}", self.out(), self.err());
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out()).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out(), self.err()))
    }

    /// Asserts that it was refused with a message that holds all of `words`.
    #[track_caller]
    pub(crate) fn refuses(self, words: &[&str]) {
        let ended = self.exits(2);
        for word in words {
            assert!(ended.err().contains(word), "`{word}` is not in: {}", ended.err());
        }
        assert_eq!(ended.out(), "", "nothing goes to standard output");
    }
}

/// The Python of the environment that `cargo xtask test --install` makes of the readers of exports.
pub(crate) fn readers_python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("export-readers").join("bin").join("python")
}

/// Returns what `tests/readers/read_exports.py` sees, started in the sandbox.
pub(crate) fn readers(sandbox: &Sandbox, args: &[&str]) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/readers/read_exports.py");
    let mut python = Command::new(readers_python());
    let ended = python.arg(script).args(args).current_dir(sandbox.dir.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{args:?}: {out}\n{err}");
    serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// The folder of published books and question sets.
pub(crate) fn shared_data() -> PathBuf {
    std::env::var_os("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set").into()
}

/// The cells of a report without their wall times, which differ from run to run.
pub(crate) fn timeless(report: &Value) -> Value {
    let mut cells = report["cells"].clone();
    for cell in cells.as_array_mut().unwrap() {
        cell.as_object_mut().unwrap().remove("seconds");
    }
    cells
}

/// A benchmark of six short stories with two choices and an open question each, in the folder `tales`.
///
/// Its runs have enough books for intervals that are clustered by book.
pub(crate) fn tales(sandbox: &Sandbox) {
    let (mut documents, mut items) = (String::new(), String::new());
    for (idx, (who, what, place)) in [
        ("Ana", "a copper key", "under the third stair"),
        ("Ben", "a paper lamp", "behind the mill"),
        ("Cleo", "a silver spoon", "in the dry well"),
        ("Dov", "a torn map", "beneath the altar"),
        ("Edda", "a glass eye", "in a jar of rice"),
        ("Finn", "a tin whistle", "on the roof beam"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!(
            "It rained for a week. {who} had found {what} at the fair. Nobody knew of it. The road was closed. \
             At night {who} hid the thing {place}. Then came the winter, and the river froze."
        );
        documents +=
            &format!("{}\n", json!({"id": format!("tale-{idx}"), "title": who, "language": "en", "text": text}));
        let others = ["a wooden cup", "a bag of salt", "a brass ring"];
        for (n, options) in [(1, [what, others[0], others[1], others[2]]), (2, [others[1], others[0], what, others[2]])]
        {
            let correct = options.iter().position(|option| *option == what);
            items += &format!(
                "{}\n",
                json!({"id": format!("t{idx}-{n}"), "documents": [format!("tale-{idx}")],
                    "question": format!("What had {who} found?"), "task": "choice", "options": options,
                    "correct": correct, "evidence": [{"quote": format!("{who} had found {what} at the fair.")}],
                    "labels": {"asked": if n == 1 { "first" } else { "again" }}})
            );
        }
        items += &format!(
            "{}\n",
            json!({"id": format!("t{idx}-3"), "documents": [format!("tale-{idx}")],
                "question": format!("Where did {who} hide the thing?"), "task": "generative", "answers": [place],
                "labels": {"asked": "first"}})
        );
    }
    sandbox.write("tales/documents.jsonl", documents);
    sandbox.write("tales/items.jsonl", items);
}

/// A run of the tales, its wall times replaced by half a second each, which differ from run to run.
pub(crate) fn run_tales(sandbox: &Sandbox, out: &str, options: &[&str]) {
    let args = ["run", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12", "--out", out];
    sandbox.run(&[&args[..], options].concat()).exits(0);
    rewrite_lines(sandbox, &format!("{out}/records.jsonl"), |record| record["seconds"] = json!(0.5));
}

/// The tales, and in `m` a run of them that lacks the last of its three parts.
pub(crate) fn run_without_a_part() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for part in ["1/3", "2/3"] {
        run_tales(&sandbox, &part[..1], &["--method", "closed-book", "--shard", part]);
    }
    sandbox.run(&["merge", "1", "2", "--out", "m"]).exits(1);
    sandbox
}

/// The stages of a build, `stage units -> kept`.
pub(crate) fn funnel(report: &Value) -> Vec<String> {
    let rows = report["funnel"].as_array().unwrap().iter();
    rows.map(|row| format!("{} {} -> {}", row["stage"].as_str().unwrap(), row["units"], row["kept"])).collect()
}

/// Changes every line of a file of JSON lines.
pub(crate) fn rewrite_lines(sandbox: &Sandbox, name: &str, change: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    let changed = text.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        change(&mut value);
        format!("{value}\n")
    });
    sandbox.write(name, changed.collect::<String>());
}
