# SPDX-License-Identifier: Apache-2.0
"""The tensors that XLM-RoBERTa large must keep for backward, derived from its operations, in bytes.

Derived by hand from the operations of transformers 5.23 and PyTorch 2.11, after the accounting of
arXiv 2205.05198 (34sbh + 5as²b a layer in 2-byte training of a pre-norm GPT), for a post-norm
encoder with dropout: X = elements of a hidden state (s*b*h), S = elements of a layer's scores
(a*s²*b), T = tokens. Left out: indices and what has fewer elements than T.
"""

LAYERS = 24
HIDDEN = 1024
HEADS = 16
RANK = 16
LORA_TARGETS = 6
VOCABULARY = 250002
POSITIONS = 8194


def parameters() -> int:
    layer = 12 * HIDDEN**2 + 13 * HIDDEN  # 4 h² of attention, 8 h² of the MLP, biases, 2 norms
    embeddings = (VOCABULARY + POSITIONS + 1 + 2) * HIDDEN  # words, positions, one type, a norm
    return LAYERS * layer + embeddings + HIDDEN**2 + HIDDEN  # and the pooler


def lora_parameters() -> int:
    square, wide = 2 * HIDDEN * RANK, 5 * HIDDEN * RANK
    return LAYERS * (4 * square + 2 * wide)


def hidden_elements(row) -> int:
    return row.batch * row.length * HIDDEN


def score_bytes(row) -> int:
    """Stored scores of one layer: softmax's result in 32 bits (autocast asks for them too), the
    dropout mask in bytes, and the dropped-out scores as the product with V takes them."""
    if row.attention != "eager":
        return 0
    elements = HEADS * row.batch * row.length**2
    return elements * (4 + 1 + (4 if row.amp == "off" else 2))


def fused_attention_bytes(row) -> int:
    """Beside q, k, v and the result: a logarithm a row of scores, and the boolean mask that
    PyTorch turns into an additive one, anew in every layer."""
    element = 4 if row.amp == "off" else 2
    return 4 * HEADS * row.batch * row.length + element * row.batch * row.length**2


def layer_bytes(row) -> int:
    x, tokens = hidden_elements(row), row.batch * row.length
    if row.amp == "off":
        # input, q, k, v, context, norm's input, MLP's input, 4 + 4 of the MLP, norm's input: 16
        # times 4 bytes, and two dropout masks
        kept = 66 * x
    else:
        # three casts of the input (6), q, k, v (6), context (2), norms' inputs in 32 bits (4 + 4),
        # cast of the MLP's input (2), 8 + 8 of the MLP, two dropout masks
        kept = 42 * x
    kept += 16 * tokens  # mean and deviation of two norms
    if row.attention == "eager":
        kept += score_bytes(row)
    else:
        kept += fused_attention_bytes(row)
    if row.train == "lora":
        element = 4 if row.amp == "off" else 2
        kept += LORA_TARGETS * RANK * element * tokens  # between an adapter's two matrices
        if row.attention == "sdpa" and row.amp != "off":
            kept += 2 * x  # the fused kernel keeps its result, and peft a copy of it by way of 32 bits
    return kept


def weight_cast_bytes(row) -> int:
    """Autocast's copies of the matrices of the layers, which backward needs."""
    if row.amp == "off":
        return 0
    copies = LAYERS * 12 * HIDDEN**2
    if row.train == "lora":
        # The first layer's input needs no gradient, so its frozen projections keep nothing.
        copies += lora_parameters() - 3 * HIDDEN**2
    return 2 * copies


def embedding_bytes(row) -> int:
    x, tokens = hidden_elements(row), row.batch * row.length
    trained = 5 * x + 24 * tokens  # norm's input, its statistics, dropout mask, two kinds of indices
    if row.train == "full":
        return trained
    if row.checkpointing == "off":
        return 0  # frozen
    return trained + 4 * x  # and the words' embeddings, which were made a leaf


def kept_by_forward(row) -> int:
    x = hidden_elements(row)
    result = 4 * x  # the last hidden state, of which the loss takes a view
    if row.checkpointing == "off":
        return LAYERS * layer_bytes(row) + embedding_bytes(row) + result + weight_cast_bytes(row)
    mask = row.batch * row.length**2 * (4 if row.attention == "eager" else 1)
    return LAYERS * 4 * x + embedding_bytes(row) + result + mask
