//! Examples at the end of the long helps.

/// Examples by the words of a command.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (
        "run",
        "\
  closeread run                               the sample, every method, no model
  closeread run --benchmark my-benchmark/ --model openai/gpt-4.1 --max-cost 5
  closeread run --benchmark novelqa --data NovelQA/ --limit 20
  closeread run --model openai-compatible/qwen3 \\
      --base-url http://localhost:8000/v1 --method dos-rag,full-document
  closeread run --out runs/a --extend --budget 10000   more of it",
    ),
    (
        "estimate",
        "\
  closeread estimate --benchmark my-benchmark/ \\
      --model openai/gpt-4.1,anthropic/claude-sonnet-4-6",
    ),
    (
        "index",
        "\
  closeread index corpus/ --method corpus-rag --retriever bm25
  closeread index --benchmark novelqa --data NovelQA/ --method dos-rag",
    ),
    (
        "config",
        "\
  closeread config                            what a run would use, and why
  closeread config --config mine.toml --budget 500",
    ),
    (
        "score",
        "\
  closeread score --gold items.jsonl --predictions predictions.jsonl \\
      --group-by complexity
  closeread score --format infinitebench --task longbook_choice_eng \\
      preds_longbook_choice_eng.jsonl",
    ),
    (
        "leaderboard",
        "\
  closeread leaderboard site --runs 'runs/*' --gold gold/
  closeread leaderboard site --runs 'runs/*' --gold gold/ \\
      --workflow .github/workflows/leaderboard.yml",
    ),
    (
        "search",
        "\
  closeread search sample \"Who paid for the bell?\"
  closeread search novel.epub \"Where is the key?\" --budget 1500 --json",
    ),
    (
        "chunk",
        "\
  closeread chunk novel.txt --chunker dos --json",
    ),
    (
        "tree",
        "\
  closeread tree novel.txt --model openai/gpt-4.1
  closeread tree the-loan-of-the-bell --run runs/a",
    ),
    (
        "judge",
        "\
  closeread judge runs/a --judge-model openai/gpt-4o,builtin/rule",
    ),
    (
        "agreement",
        "\
  closeread agreement runs/a labels.csv",
    ),
    (
        "compare",
        "\
  closeread compare runs/a runs/b
  closeread compare runs/a --method vanilla-rag,dos-rag --budget 500",
    ),
    (
        "report",
        "\
  closeread report runs/a runs/b --html site/ --csv scores.csv
  closeread report runs/a=thinking runs/b=plain --latex
  closeread report runs/a --paper sagascale --list",
    ),
    (
        "serve",
        "\
  closeread serve runs/a runs/b
  closeread serve --relay                     the page asks models through it",
    ),
    (
        "protocol",
        "\
  closeread protocol novelqa
  closeread protocol runs/a",
    ),
    (
        "verify",
        "\
  closeread verify runs/a",
    ),
    (
        "merge",
        "\
  closeread run --shard 1/2 --out a; closeread run --shard 2/2 --out b
  closeread merge a b --out runs/whole",
    ),
    (
        "build corpusqa",
        "\
  closeread build corpusqa --documents reports/ --table table.csv \\
      --entity bank,banks --out questions",
    ),
    (
        "build hamlet",
        "\
  closeread build hamlet --books novels/ --model openai/gpt-4o --out built \\
      --dry-run
  closeread build hamlet --books novels/ --model openai/gpt-4o --out built
  closeread run --benchmark hamlet --data built",
    ),
    (
        "model",
        "\
  closeread model list
  closeread model pull multilingual-e5-large",
    ),
    (
        "data stats",
        "\
  closeread data stats novelqa --data NovelQA/",
    ),
    (
        "providers",
        "\
  closeread providers
  closeread providers check openai/gpt-4.1",
    ),
    (
        "doctor",
        "\
  closeread doctor --offline
  closeread doctor --base-url http://localhost:8000/v1",
    ),
    (
        "help",
        "\
  closeread help run
  closeread help formats",
    ),
    (
        "methods",
        "\
  closeread methods
  closeread methods novel.epub                calls and tokens for this book",
    ),
    (
        "submit",
        "\
  closeread submit slurm --parts 16 --out /shared/novels --dry-run -- \\
      --benchmark novels/ --model openai/gpt-4.1
  closeread submit slurm --parts 16 --out /shared/novels --follow -- \\
      --benchmark novels/ --model openai/gpt-4.1",
    ),
    (
        "status",
        "\
  closeread status runs/parts --follow",
    ),
    (
        "retrieve",
        "\
  closeread retrieve --out runs/found         the sample, by words and by meaning
  closeread retrieve --benchmark novelqa --data NovelQA/ \\
      --retriever bm25,hybrid --chunker dos,window --out runs/found
  closeread retrieve --reranker none,ms-marco-MiniLM-L6-v2 --out runs/reranked",
    ),
    (
        "data hash",
        "\
  closeread data hash items.jsonl --salt harbour --out hashed.jsonl",
    ),
    (
        "build options",
        "\
  closeread build options --benchmark novels/ --model openai/gpt-4o --out built",
    ),
    (
        "build sagascale",
        "\
  closeread build sagascale --books novels/ --model openai/gpt-4o --out built \\
      --dry-run
  closeread build sagascale --books novels/ --model openai/gpt-4o --out built",
    ),
    (
        "gate",
        "\
  closeread gate runs/a --min accuracy=0.55 --max-cost 5
  closeread gate runs/a --no-worse-than runs/last --margin 2 --junit gate.xml",
    ),
    (
        "cache list",
        "\
  closeread cache list",
    ),
    (
        "cache prune",
        "\
  closeread cache prune --older-than 30
  closeread cache prune --older-than 0 --model openai/gpt-4o",
    ),
    (
        "cache verify",
        "\
  closeread cache verify",
    ),
    (
        "people answer",
        "\
  closeread people answer --benchmark my-benchmark/ --draw 20 --out study",
    ),
    (
        "people rate",
        "\
  closeread people rate runs/a --draw 50 --out study
  closeread people rate runs/a --ask fault --out study",
    ),
    (
        "people read",
        "\
  closeread people read study anna.json ben.json",
    ),
    (
        "model list",
        "\
  closeread model list",
    ),
    (
        "model pull",
        "\
  closeread model pull multilingual-e5-large",
    ),
    (
        "model convert",
        "\
  closeread model convert multilingual-e5-base/ --weights w8",
    ),
    (
        "model verify",
        "\
  closeread model verify
  closeread model verify all-MiniLM-L6-v2",
    ),
    (
        "model calibrate",
        "\
  closeread model calibrate all-MiniLM-L6-v2 --text novels/",
    ),
    (
        "providers check",
        "\
  closeread providers check openai/gpt-4.1
  closeread providers check --reranker cohere/rerank-v3.5",
    ),
    (
        "export codabench",
        "\
  closeread export codabench items.jsonl --title \"Novels\" --start 2027-01-01 \\
      --out novels.zip",
    ),
    (
        "export every-eval-ever",
        "\
  closeread export every-eval-ever runs/a --organization \"A group\" \\
      --relationship third_party --out records",
    ),
    (
        "export hf",
        "\
  closeread export hf runs/a --dataset a-group/novels --out hub",
    ),
    (
        "export inspect",
        "\
  closeread export inspect runs/a --out logs",
    ),
    (
        "export markdown",
        "\
  closeread export markdown runs/a runs/b=plain --out tables.md",
    ),
    (
        "export novelqa",
        "\
  closeread export novelqa runs/a --at dos-rag@5000 --out submission.zip",
    ),
    (
        "export otlp",
        "\
  closeread export otlp runs/a --endpoint http://localhost:4318",
    ),
    (
        "export parquet",
        "\
  closeread export parquet runs/a runs/b=plain --out tables",
    ),
    (
        "export predictions",
        "\
  closeread export predictions runs/a --at dos-rag@5000 --out predictions.jsonl",
    ),
    (
        "export trec",
        "\
  closeread export trec runs/a --out trec",
    ),
    (
        "completions",
        "\
  closeread completions bash",
    ),
    (
        "man",
        "\
  closeread man ~/.local/share/man/man1",
    ),
];
