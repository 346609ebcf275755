"""The other side of `cargo xtask bench gpu`: sentence-transformers on the same card, with the weights of closeread's file.

gpu_peer.py MODEL_FOLDER TEXTS PRECISION answers the commands of gpu/examples/gpu_bench.rs. `ids` and `texts` take the batch size
that was the fastest of BATCHES; the first `ids` finds it.
gpu_peer.py --compare A B prints how close the vectors of B are to those of A.
gpu_peer.py --cut TEXT TOKENIZER TEXTS N_TOKENS N writes N passages of about N_TOKENS tokens, one a line; a short text is repeated.
"""
import re
import sys
import tempfile
import time

import numpy as np

BATCHES = (32, 128, 512, 1024)


def cut(text, tokenizer, texts, n_tokens, n):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    content = re.sub(r"\s+", " ", open(text, encoding="utf-8", errors="replace").read())
    passages, current, length = [], [], 0
    for sentence in re.split(r"(?<=[.!?]) ", content):
        n_own = len(tokenizer.encode(sentence, add_special_tokens=False).ids)
        if current and length + n_own > int(n_tokens):
            passages.append(" ".join(current))
            current, length = [], 0
        current.append(sentence)
        length += n_own
    passages = [passages[at % len(passages)] for at in range(int(n))]
    open(texts, "w", encoding="utf-8").write("\n".join(passages))


def weights_of(path):
    """The tensors of an ONNX file that closeread wrote, 8-bit ones times their scales, by BERT's names."""
    import onnx
    from onnx import numpy_helper

    raw = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    found = {}
    for name, values in raw.items():
        if name.endswith("_stored"):
            name = name[: -len("_stored")]
            values = values.astype(np.float32)
            if name + "_row_scale" in raw:
                scale = raw[name + "_row_scale"]
                values *= scale[None, :] if name.startswith("layer") else scale[:, None]
        found[name] = values
    return found


def model_of(folder, precision):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    found = weights_of(folder + "/model.onnx")
    n_layers = 1 + max(int(name[5:].split("_")[0]) for name in found if name.startswith("layer"))
    hidden = found["words"].shape[1]
    heads = int(found["split_heads"][2])
    config = BertConfig(vocab_size=len(found["words"]), hidden_size=hidden, num_hidden_layers=n_layers, num_attention_heads=heads,
                        intermediate_size=found["layer0_wide_bias"].shape[0], max_position_embeddings=len(found["positions"]))
    bert = BertModel(config)
    state = {"embeddings.word_embeddings.weight": found["words"], "embeddings.position_embeddings.weight": found["positions"],
             "embeddings.LayerNorm.weight": found["embeddings_scale"], "embeddings.LayerNorm.bias": found["embeddings_shift"],
             # The file adds the vector of token type 0 to the positions.
             "embeddings.token_type_embeddings.weight": np.zeros((2, hidden), np.float32)}
    for layer in range(n_layers):
        parts = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
                 "attended": "attention.output.dense", "wide": "intermediate.dense", "narrow": "output.dense"}
        for ours, theirs in parts.items():
            state[f"encoder.layer.{layer}.{theirs}.weight"] = found[f"layer{layer}_{ours}_weight"].T
            state[f"encoder.layer.{layer}.{theirs}.bias"] = found[f"layer{layer}_{ours}_bias"]
        for ours, theirs in {"middle": "attention.output.LayerNorm", "output": "output.LayerNorm"}.items():
            state[f"encoder.layer.{layer}.{theirs}.weight"] = found[f"layer{layer}_{ours}_scale"]
            state[f"encoder.layer.{layer}.{theirs}.bias"] = found[f"layer{layer}_{ours}_shift"]
    lacking = bert.load_state_dict({name: torch.tensor(np.ascontiguousarray(values)) for name, values in state.items()}, strict=False)
    assert all("pooler" in name or "ids" in name for name in lacking.missing_keys) and not lacking.unexpected_keys, lacking
    saved = tempfile.mkdtemp()
    bert.save_pretrained(saved)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json", pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                        sep_token="[SEP]", mask_token="[MASK]", model_max_length=256)
    tokenizer.save_pretrained(saved)
    transformer = models.Transformer(saved, max_seq_length=256)
    pooling = models.Pooling(hidden, pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling, models.Normalize()], device="cuda")
    return (model.half() if precision == "f16" else model).eval(), tokenizer


def serve(folder, texts, precision):
    import torch

    texts = open(texts, encoding="utf-8").read().split("\n")
    model, tokenizer = model_of(folder, precision)
    print("peer:", torch.__version__, torch.cuda.get_device_name(), model[0].auto_model.config._attn_implementation, file=sys.stderr)
    ids = [tokenizer.encode(text, truncation=True, max_length=256) for text in texts]
    order = sorted(range(len(ids)), key=lambda at: -len(ids[at]))

    def by_ids(batch):
        """As SentenceTransformer.encode does it, but for the tokenizer."""
        found = np.zeros((len(ids), model[0].auto_model.config.hidden_size), np.float32)
        parts = []
        with torch.inference_mode():
            for start in range(0, len(order), batch):
                rows = [ids[at] for at in order[start : start + batch]]
                shape = (len(rows), len(rows[0]))
                tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
                for at, row in enumerate(rows):
                    tokens[at, : len(row)], mask[at, : len(row)] = row, 1
                features = {"input_ids": torch.from_numpy(tokens).pin_memory().cuda(non_blocking=True),
                            "attention_mask": torch.from_numpy(mask).pin_memory().cuda(non_blocking=True)}
                parts.append(model(features)["sentence_embedding"])
            found[order] = torch.cat(parts).float().cpu().numpy()
        return found

    def timed(work):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        work()
        torch.cuda.synchronize()
        return time.perf_counter_ns() - start

    best = None
    for line in sys.stdin:
        if best is None:
            times = {}
            for batch in BATCHES:
                by_ids(batch)
                times[batch] = min(timed(lambda: by_ids(batch)) for _ in range(2))
            best = min(times, key=times.get)
            print("peer:", {batch: f"{time / 1e6:.0f} ms" for batch, time in times.items()}, file=sys.stderr)
        if line.startswith("vectors "):
            by_ids(best).astype("<f4").tofile(line.split(" ", 1)[1].strip())
            print(0, flush=True)
        elif line.strip() == "texts":
            print(timed(lambda: model.encode(texts, batch_size=best, convert_to_numpy=True)), flush=True)
        else:
            print(timed(lambda: by_ids(best)), flush=True)


def compare(reference, other, dimension=384):
    a, b = (np.fromfile(path, "<f4").reshape(-1, dimension).astype(np.float64) for path in (reference, other))
    a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
    distance = 1 - (a * b).sum(1)
    print(f"  {len(a)} passages: 1 - cos mean {distance.mean():.1e}, largest {distance.max():.1e}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--compare", a, b]:
            compare(a, b)
        case ["--cut", *rest]:
            cut(*rest)
        case [folder, texts, precision]:
            serve(folder, texts, precision)
