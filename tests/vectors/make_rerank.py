"""rerank.json: two tiny cross-encoders of random weights, and what they say of pairs of texts.

Pairs are split by tokenizers, whose truncation `longest_first` is that of sentence-transformers. The forward pass is that of
bert.py with the heads of BERT and XLM-RoBERTa for sequence classification; it knows nothing of closeread.
"""

import base64
import json
import math
import string
import struct

import numpy as np
import tokenizers
from bert import last_states
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the of in to and was it he she had not who what where did hide key lamp stair under mill found thing night".split()
PAIRS = [
    ("match", "Where did she hide the key?", "At night she hid the thing under the third stair."),
    ("other", "Where did she hide the key?", "Wheat prices rose again in the spring of that year."),
    ("same-text-twice", "the lamp", "the lamp"),
    ("empty-passage", "Who found the lamp?", ""),
    ("empty-query", "", "He found it in the mill."),
    ("accents-and-case", "WHO had the L\u00e2MP?", "Not \u00c9dda; the night was long (it was)."),
    ("unknown-letters", "\u94a5\u5319 in the mill?", "She found \u94a5\u5319 and a key."),
    ("long-passage", "Where did she hide the key?", "It was in the mill, and he found the lamp under the stair. " * 12),
    ("long-query", "Where did she hide the key, and who had it at night? " * 9, "Under the stair."),
    ("both-long", "What did he find in the mill? " * 12, "It was the key of the lamp. " * 14),
]
MODELS = {
    "bert": {"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": 24, "hidden_act": "gelu", "max_position_embeddings": 128, "type_vocab_size": 2,
             "pad_token_id": 0, "sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
    "xlm-roberta": {"model_type": "xlm-roberta", "hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 3,
                    "intermediate_size": 20, "hidden_act": "gelu", "max_position_embeddings": 66, "type_vocab_size": 1,
                    "pad_token_id": 0},
}


def files():
    dice = np.random.default_rng(20261125)
    made, cases = [], []
    for name, config in MODELS.items():
        vocabulary = vocabulary_of(name)
        config = config | {"vocab_size": len(vocabulary), "layer_norm_eps": 1e-12,
                           "architectures": ["ForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
        weights = weights_of(config, dice)
        tokenizer = tokenizer_of(name, vocabulary)
        made.append({"name": name, "config.json": json.dumps(config), "tokenizer.json": tokenizer.to_str(),
                     "model.safetensors": base64.b64encode(safetensors(weights)).decode()})
        first = 0 if name == "bert" else config["pad_token_id"] + 1
        tokenizer.enable_truncation(config["max_position_embeddings"] - first, strategy="longest_first")
        whole = Tokenizer.from_str(made[-1]["tokenizer.json"])
        for case, query, passage in PAIRS:
            encoding = tokenizer.encode(query, passage)
            score = score_of(config, weights, encoding.ids, encoding.type_ids, first)
            cut = len(whole.encode(query, passage).ids) > len(encoding.ids)
            cases.append({"id": f"{name}-{case}", "model": name, "query": query, "passage": passage,
                          "ids": encoding.ids, "types": encoding.type_ids, "cut": cut, "score": float(f"{score:.9g}")})
    made_with = {"tokenizers": tokenizers.__version__, "numpy": "forward pass in f64, make_rerank.py"}
    content = {"schema": "rerank/1", "generated_with": made_with, "models": [{"id": m["name"], **m} for m in made],
               "cases": cases}
    return {"rerank.json": content}


def vocabulary_of(name):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] if name == "bert" else ["<pad>", "<unk>", "<s>", "</s>"]
    letters = list(string.ascii_lowercase + string.digits)
    return special + letters + ["##" + letter for letter in letters] + list(".,;:?!()'\"-") + WORDS


def tokenizer_of(name, vocabulary):
    _, unknown, begin, end = vocabulary[:4]
    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=unknown, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pair = f"{begin} $A {end} $B:1 {end}:1" if name == "bert" else f"{begin} $A {end} {end} $B:0 {end}:0"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=pair, special_tokens=[(begin, ids[begin]), (end, ids[end])])
    return tokenizer


def weights_of(config, dice):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
    }
    for layer in range(config["num_hidden_layers"]):
        for part, outputs, inputs in [
            ("attention.self.query", hidden, hidden), ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden), ("attention.output.dense", hidden, hidden),
            ("attention.output.LayerNorm", hidden, None), ("intermediate.dense", inner, hidden),
            ("output.dense", hidden, inner), ("output.LayerNorm", hidden, None),
        ]:
            name = f"encoder.layer.{layer}.{part}"
            shapes[name + ".weight"] = (outputs, inputs) if inputs else (outputs,)
            shapes[name + ".bias"] = (outputs,)
    prefix = "bert." if config["model_type"] == "bert" else "roberta."
    shapes = {prefix + name: shape for name, shape in shapes.items()}
    heads = [("bert.pooler.dense", hidden), ("classifier", 1)] if prefix == "bert." else [
        ("classifier.dense", hidden), ("classifier.out_proj", 1)]
    for name, outputs in heads:
        shapes[name + ".weight"], shapes[name + ".bias"] = (outputs, hidden), (outputs,)

    def draw(name, shape):
        if "LayerNorm.weight" in name:
            return 1 + 0.2 * dice.standard_normal(shape)
        scale = 1.6 / math.sqrt(shape[1]) if len(shape) == 2 and "embeddings" not in name else 0.4
        return scale * dice.standard_normal(shape)

    return {name: draw(name, shape).astype(np.float16) for name, shape in sorted(shapes.items())}


def safetensors(weights):
    header, data = {}, b""
    for name, tensor in weights.items():
        start = len(data)
        data += tensor.tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [start, len(data)]}
    header = json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def score_of(config, weights, ids, types, first):
    prefix = "bert." if config["model_type"] == "bert" else "roberta."
    plain = lambda name: weights[name].astype(np.float64)
    x = last_states(weights, config, ids, types, first, prefix)
    pooler, output = ("bert.pooler.dense", "classifier") if prefix == "bert." else ("classifier.dense", "classifier.out_proj")
    pooled = np.tanh(plain(pooler + ".weight") @ x[0] + plain(pooler + ".bias"))
    logit = (plain(output + ".weight") @ pooled + plain(output + ".bias"))[0]
    return logit if "sentence_transformers" in config else 1 / (1 + math.exp(-logit))
