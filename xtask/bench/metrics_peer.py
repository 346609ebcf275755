"""The Python references' side of `cargo xtask bench metrics`.

    metrics_peer.py PAIRS WORDNET PUNKT SQUAD       # answers commands, as core/metrics/examples/metrics_bench.rs does
    metrics_peer.py --pairs TEXT N_WORDS N_PAIRS OUT

WORDNET is a folder of WordNet 3.0's dictionary files, PUNKT the core's punkt-en.txt, SQUAD a file with the functions of
SQuAD's official script. Commands are `METRIC REPEATS` and `METRIC scores`, one a line.
"""

import importlib.util
import json
import random
import sys
import time
from pathlib import Path


def main():
    if sys.argv[1] == "--pairs":
        return make_pairs(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    pairs_path, wordnet, punkt, squad = map(Path, sys.argv[1:5])
    pairs = json.loads(pairs_path.read_text(encoding="utf-8"))
    metrics = load(wordnet, punkt, squad)
    for line in sys.stdin:
        metric, what = line.split()
        if what == "scores":
            print(json.dumps(metrics[metric](pairs)), flush=True)
            continue
        start = time.thread_time_ns()
        for _ in range(int(what)):
            metrics[metric](pairs)
        print(time.thread_time_ns() - start, flush=True)


def load(wordnet, punkt, squad):
    """Functions from pairs to scores, by metric."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re

    scorers = {kind: RougeScorer([kind]) for kind in ("rouge1", "rouge2", "rougeL", "rougeLsum")}
    metrics = {
        kind: lambda pairs, kind=kind, scorer=scorer: [scorer.score(r, p)[kind].fmeasure for p, r in pairs]
        for kind, scorer in scorers.items()
    }

    def bleu(pairs):
        # A user scores a text once: what the tokenizers remember of the last pass would be no measurement.
        tokenizer_13a.Tokenizer13a.__call__.cache_clear()
        tokenizer_re.TokenizerRegexp.__call__.cache_clear()
        metric = BLEU(smooth_method="none", effective_order=False)
        return [metric.corpus_score([p for p, _ in pairs], [[r for _, r in pairs]]).score / 100]

    compute_f1 = load_squad(squad).compute_f1
    meteor, word_tokenize, reader = load_nltk(wordnet, punkt)
    metrics["bleu_4"] = bleu
    metrics["f1"] = lambda pairs: [compute_f1(p, r) for p, r in pairs]
    metrics["meteor"] = lambda pairs: [
        meteor([word_tokenize(r)], word_tokenize(p), wordnet=reader) for p, r in pairs
    ]
    metrics["meteor_new"] = metrics["meteor"]
    return metrics


def load_squad(path):
    spec = importlib.util.spec_from_file_location("squad", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_nltk(wordnet, punkt):
    import warnings

    import nltk.tokenize
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from nltk.translate.meteor_score import meteor_score

    warnings.filterwarnings("ignore", "The multilingual functions")
    splitter = PunktSentenceTokenizer(read_punkt(punkt, PunktParameters()))
    nltk.tokenize.sent_tokenize = lambda text, language="english": splitter.tokenize(text)
    lexnames = wordnet / "lexnames"
    if not lexnames.exists():
        # Debian leaves the file out; NLTK wants one, and synonyms do not depend on what it says.
        lexnames.write_text("".join(f"{number:02}\tlexname{number}\t1\n" for number in range(45)), encoding="ascii")
    # Maps to other versions of WordNet are for other languages, and need data that we do not have.
    WordNetCorpusReader.map_wn = lambda self, version="wordnet": None
    reader = WordNetCorpusReader(str(wordnet), None)
    return meteor_score, nltk.tokenize.word_tokenize, reader


def read_punkt(path, parameters):
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line or line.startswith("#"):
            continue
        kind, *fields = line.split("\t")
        if kind == "abbreviations":
            parameters.abbrev_types.update(fields)
        elif kind == "collocations":
            parameters.collocations.update(tuple(field.split(" ", 1)) for field in fields)
        elif kind == "starters":
            parameters.sent_starters.update(fields)
        elif kind.startswith("orthography "):
            for word in fields:
                parameters.ortho_context[word] |= int(kind.split(" ")[1])
        else:
            sys.exit(f"{path}: no code for a record `{kind}`")
    return parameters


def make_pairs(text, n_words, n_pairs, out):
    """References are stretches of the text; predictions the same with a quarter of the words dropped, replaced or
    moved, so that every stage of every metric has something to do."""
    words = text.read_text(encoding="utf-8").split()
    draw = random.Random(n_words)
    pairs = []
    for _ in range(n_pairs):
        start = draw.randrange(len(words) - n_words)
        reference = words[start : start + n_words]
        prediction = []
        for word in reference:
            chance = draw.random()
            if chance < 0.1:
                prediction.append(draw.choice(words))
            elif chance < 0.2:
                prediction.insert(max(len(prediction) - draw.randrange(6), 0), word)
            elif chance < 0.95:
                prediction.append(word)
        pairs.append([" ".join(prediction), " ".join(reference)])
    out.write_text(json.dumps(pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
