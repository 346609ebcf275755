"""BERT's forward pass in f64, written out after its description: what vectors of embeddings and of rerankers are held against."""

import math

import numpy as np


def last_states(weights, config, ids, types=0, first=0, prefix=""):
    """The last state of each token; `first` is the row of the first position, `prefix` stands before each weight's name."""
    w = lambda name: weights[prefix + name].astype(np.float64)
    heads, n = config["num_attention_heads"], len(ids)

    def norm(x, name):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + config["layer_norm_eps"]) * w(name + ".weight") + w(name + ".bias")

    x = w("embeddings.word_embeddings.weight")[ids] + w("embeddings.position_embeddings.weight")[first:first + n]
    x = norm(x + w("embeddings.token_type_embeddings.weight")[types], "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        dense = lambda y, name: y @ w(at + name + ".weight").T + w(at + name + ".bias")
        split = lambda y: y.reshape(n, heads, -1).transpose(1, 0, 2)
        q, k, v = (split(dense(x, "attention.self." + part)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        share = np.exp(scores - scores.max(-1, keepdims=True))
        context = (share / share.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
        x = norm(dense(context, "attention.output.dense") + x, at + "attention.output.LayerNorm")
        y = dense(x, "intermediate.dense")
        y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
        x = norm(dense(y, "output.dense") + x, at + "output.LayerNorm")
    return x
