"""The vectors of the text metrics: text_metrics.json, text_corpus.json, meteor_resources.json.

ROUGE is rouge_score's, METEOR with its words, stems and synonyms is nltk's, tokenizer 13a is sacrebleu's (the metric
`bleu` of Hugging Face evaluate carries a copy). The scripts of evaluate, SQuAD and InfiniteBench are on no package
registry; BLEU over the 13a tokens and the F1s are computed here as their authors describe them. Given the folder of
a text_metrics.json and a text_corpus.json that the scripts themselves made,

    target/vectors-venv/bin/python tests/vectors/generate.py --metrics-against FOLDER

holds everything here to them.
"""

import json
import math
import re
import string
import subprocess
import sys
import warnings
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import nltk.tokenize
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.data import FileSystemPathPointer
from nltk.stem import PorterStemmer
from nltk.translate import meteor_score
from rouge_score import rouge_scorer, tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import metric_texts

DEBIAN_WORDNET = "usr/share/wordnet"
TOLERANCE = 1e-9


def files(scratch):
    """The three files by name; `scratch` is a folder for what is downloaded."""
    metrics = Metrics(load_wordnet(scratch))
    cases = [metrics.case(f"{group}-{name}", group, prediction, references)
             for group, name, prediction, references in metric_texts.PAIRS]
    return {
        "text_metrics.json": {
            "schema": "text_metrics/1", "generated_with": generated_with(), "tolerance": TOLERANCE, "cases": cases,
        },
        "text_corpus.json": {
            "schema": "text_corpus/1", "generated_with": generated_with(), "tolerance": TOLERANCE,
            "sets": [metrics.set_of(name, of, cases) for name, of in metric_texts.SETS],
        },
        "meteor_resources.json": metrics.resources(cases),
    }


def generated_with():
    return {
        "rouge_score": version("rouge_score"),
        "nltk": f"{nltk.__version__} (Punkt English of crate punkt_n; WordNet 3.0 of Debian's wordnet-base)",
        "sacrebleu": f"{version('sacrebleu')} (tokenizer 13a)",
        "bleu, squad, infinitebench": "make_text_metrics.py after the published descriptions",
    }


def load_wordnet(scratch):
    """nltk's reader over Debian's WordNet 3.0, installed or downloaded."""
    dictionary = Path("/") / DEBIAN_WORDNET
    if not (dictionary / "data.noun").exists():
        subprocess.run(["apt-get", "download", "--quiet", "wordnet-base"], check=True, cwd=scratch)
        package = next(scratch.glob("wordnet-base_*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, scratch / "wordnet-base"], check=True)
        dictionary = scratch / "wordnet-base" / DEBIAN_WORDNET
    layout = scratch / "wordnet"
    layout.mkdir()
    for file in dictionary.iterdir():
        (layout / file.name).symlink_to(file)
    # Debian leaves this file out; METEOR does not look at the names in it.
    (layout / "lexnames").write_text("".join(f"{i:02}\tname{i}\t1\n" for i in range(45)))

    class Reader(WordNetCorpusReader):
        def map_wn(self, version="wordnet"):
            return None  # would load a second WordNet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no multilingual WordNet
        return Reader(FileSystemPathPointer(str(layout)), None)


class NoWordNet:
    """Knows no synonyms."""

    def synsets(self, word):
        return []


class Metrics:
    def __init__(self, wordnet):
        self.wordnet = wordnet
        self.stemmer = PorterStemmer()
        self.rouge = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
        self.tokenizer_13a = Tokenizer13a()

    # --- the files

    def case(self, name, group, prediction, references):
        return {
            "id": name, "group": group, "prediction": prediction, "references": references,
            "expected": self.expected(prediction, references),
            "trace": self.trace(prediction, references),
        }

    def expected(self, prediction, references):
        pair = [prediction], [references]
        return {
            "rouge": self.rouge_over(prediction, references),
            "meteor": self.meteor(prediction, references, self.wordnet),
            "meteor_without_synonyms": self.meteor(prediction, references, NoWordNet()),
            "bleu_1": self.bleu(*pair, 1), "bleu_4": self.bleu(*pair, 4), "bleu_4_smooth": self.bleu(*pair, 4, True),
            "squad_v1": squad_v1(prediction, references), "squad_v2": squad_v2(prediction, references),
            "infinitebench_en_f1": max(f1(squad_words(prediction), squad_words(r)) for r in references),
            "infinitebench_zh_f1": max(f1(zh_normalized(prediction), zh_normalized(r)) for r in references),
        }

    def trace(self, prediction, references):
        def both(tokenizer):
            return {"prediction": tokenizer(prediction), "references": [tokenizer(r) for r in references]}

        return {
            "rouge_tokens": both(lambda text: tokenize.tokenize(text, None)),
            "tok_13a": both(self.words_13a),
            "word_tokenize": both(nltk.tokenize.word_tokenize),
            "squad_normalized": both(lambda text: " ".join(squad_words(text))),
            "zh_normalized": both(zh_normalized),
            "meteor_alignment": [self.alignment(prediction, reference) for reference in references],
        }

    def set_of(self, name, of, cases):
        chosen = [case for wanted in of for case in cases if wanted in (case["id"], case["group"])]
        assert chosen, f"{name}: no such pairs"
        pairs = [(case["prediction"], case["references"]) for case in chosen]
        return {
            "id": f"set-{name}", "predictions": [p for p, _ in pairs], "references": [r for _, r in pairs],
            "expected": self.corpus(pairs),
        }

    def corpus(self, pairs):
        predictions, references = [p for p, _ in pairs], [r for _, r in pairs]
        mean = lambda score: sum(score(p, r) for p, r in pairs) / len(pairs)
        squad = [squad_v1(p, r) for p, r in pairs]
        return {
            **{f"bleu_{order}": self.bleu(predictions, references, order) for order in (1, 2, 3, 4)},
            "bleu_4_smooth": self.bleu(predictions, references, 4, True),
            "rougeL_mean_fmeasure": mean(lambda p, r: self.rouge_over(p, r)["rougeL"]["fmeasure"]),
            "meteor_mean": mean(lambda p, r: self.meteor(p, r, self.wordnet)),
            "meteor_mean_without_synonyms": mean(lambda p, r: self.meteor(p, r, NoWordNet())),
            "squad_v1_percent": {key: 100 * sum(s[key] for s in squad) / len(pairs) for key in ("exact_match", "f1")},
        }

    def resources(self, cases):
        texts = [text for case in cases for text in (case["prediction"], *case["references"])]
        words = sorted({word.lower() for text in texts for word in nltk.tokenize.word_tokenize(text)})
        looked_up = sorted(set(words) | {self.stemmer.stem(word) for word in words})
        return {
            "schema": "meteor_resources/1",
            "generated_with": {"nltk": generated_with()["nltk"]},
            "stems": [{"word": word, "stem": self.stemmer.stem(word)} for word in words],
            "synonyms": [{"word": word, "synonyms": self.synonyms(word)} for word in looked_up],
        }

    # --- the metrics

    def rouge_over(self, prediction, references):
        """Per type the reference with the highest F."""
        best = self.rouge.score_multi(references, prediction)
        return {kind: score._asdict() for kind, score in best.items()}

    def meteor(self, prediction, references, wordnet):
        words = [nltk.tokenize.word_tokenize(reference) for reference in references]
        return float(meteor_score.meteor_score(words, nltk.tokenize.word_tokenize(prediction), wordnet=wordnet))

    def alignment(self, prediction, reference):
        """nltk's alignment, and which of its matches are of equal words and which of equal stems."""
        hypothesis = [word.lower() for word in nltk.tokenize.word_tokenize(prediction)]
        reference = [word.lower() for word in nltk.tokenize.word_tokenize(reference)]
        matches, _, _ = meteor_score.align_words(hypothesis, reference, wordnet=self.wordnet)
        stem = self.stemmer.stem
        exact = sum(hypothesis[h] == reference[r] for h, r in matches)
        equal_stems = sum(stem(hypothesis[h]) == stem(reference[r]) for h, r in matches)
        return {
            "matches": [list(match) for match in matches],
            "n_exact": exact, "n_stem": equal_stems - exact, "n_synonym": len(matches) - equal_stems,
            "chunks": meteor_score._count_chunks(matches) if matches else 0,
            "hyp_len": len(hypothesis), "ref_len": len(reference),
        }

    def synonyms(self, word):
        names = (lemma.name() for synset in self.wordnet.synsets(word) for lemma in synset.lemmas())
        return sorted({name for name in names if "_" not in name})

    def words_13a(self, text):
        return self.tokenizer_13a(text).split()

    def bleu(self, predictions, references, max_order, smooth=False):
        """Corpus BLEU as in tensorflow/nmt: clipped counts, the shortest reference's length."""
        matched, possible = [0] * max_order, [0] * max_order
        length = reference_length = 0
        for prediction, acceptable in zip(predictions, references):
            words = self.words_13a(prediction)
            acceptable = [self.words_13a(reference) for reference in acceptable]
            length += len(words)
            reference_length += min(map(len, acceptable))
            for order in range(1, max_order + 1):
                allowed = Counter()
                for reference in acceptable:
                    allowed |= ngrams(reference, order)
                matched[order - 1] += (ngrams(words, order) & allowed).total()
                possible[order - 1] += max(len(words) - order + 1, 0)
        extra = 1 if smooth else 0
        precisions = [(m + extra) / (p + extra) if p + extra else 0.0 for m, p in zip(matched, possible)]
        try:
            ratio = length / reference_length
            penalty = 1.0 if ratio > 1.0 else math.exp(1 - 1 / ratio)
        except ZeroDivisionError:
            return {"error": "ZeroDivisionError"}
        mean = math.exp(sum(math.log(p) for p in precisions) / max_order) if min(precisions) > 0 else 0.0
        return {
            "bleu": mean * penalty, "precisions": precisions, "brevity_penalty": penalty, "length_ratio": ratio,
            "translation_length": length, "reference_length": reference_length,
        }


def ngrams(words, order):
    return Counter(tuple(words[i:i + order]) for i in range(len(words) - order + 1))


def squad_words(text):
    """Lower case, ASCII punctuation deleted, the articles blanked, white space collapsed."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(?:a|an|the)\b", " ", kept).split()


def f1(prediction, reference):
    same = (Counter(prediction) & Counter(reference)).total()
    if same == 0:
        return 0.0
    precision, recall = same / len(prediction), same / len(reference)
    return 2 * precision * recall / (precision + recall)


def squad_v1(prediction, references):
    p, golds = squad_words(prediction), [squad_words(r) for r in references]
    return {"exact_match": float(p in golds), "f1": max(f1(p, gold) for gold in golds)}


def squad_v2(prediction, references):
    """As v1, but gold answers of nothing count only if there is no other, and then only against nothing."""
    p = squad_words(prediction)
    golds = [gold for gold in map(squad_words, references) if gold] or [[]]
    best = max(f1(p, gold) if p and gold else float(p == gold) for gold in golds)
    return {"exact_match": float(p in golds), "f1": best}


# InfiniteBench's list lacks the opening mark of a title, 〈, 〉, the middle dot and the full-width full stop.
FULL_WIDTH = {chr(ord(c) + 0xFEE0) for c in string.punctuation if c != "."}
ZH_PUNCTUATION = FULL_WIDTH | set(string.punctuation) | set(
    "｡。｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏")


def zh_normalized(text):
    return "".join(c for c in text.lower() if c not in ZH_PUNCTUATION and not c.isspace())


# --- validation


def check_metrics(folder, scratch):
    """Holds everything here to a text_metrics.json and a text_corpus.json that the published scripts made."""
    metrics = Metrics(load_wordnet(scratch))
    read = lambda name: json.loads((folder / name).read_text(encoding="utf-8"))
    wrong, cases, sets = [], read("text_metrics.json")["cases"], read("text_corpus.json")["sets"]
    for case in cases:
        pair = case["prediction"], case["references"]
        trace = {} if "trace" not in case else metrics.trace(*pair)
        if not (close(metrics.expected(*pair), case["expected"]) and close(trace, case.get("trace", {}))):
            wrong.append(case["id"])
    for case in sets:
        references = [r if isinstance(r, list) else [r] for r in case["references"]]
        if not close(metrics.corpus(list(zip(case["predictions"], references))), case["expected"]):
            wrong.append(case["id"])
    print(f"{len(cases) + len(sets) - len(wrong)} of {len(cases) + len(sets)} cases agree", *wrong)
    sys.exit(bool(wrong))


def close(ours, theirs):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(close(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(ours, float) or isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=0, abs_tol=TOLERANCE)
    return ours == theirs
