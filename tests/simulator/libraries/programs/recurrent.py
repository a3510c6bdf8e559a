# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks through cuDNN: their parameters fill one weight space, without overlaps."""
import itertools

import torch
from torch.nn.utils.rnn import pack_padded_sequence

GATES = {torch.nn.LSTM: 4, torch.nn.GRU: 3, torch.nn.RNN: 1}
HIDDEN = 32


def elements_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


def check(cell, layers, bidirectional, bias, projection):
    options = dict(num_layers=layers, bidirectional=bidirectional, bias=bias, dropout=0.2 * (layers > 1))
    if projection:
        options["proj_size"] = projection
    network = cell(24, HIDDEN, **options).cuda()
    network.flatten_parameters()
    storages = {weight.untyped_storage().data_ptr() for weight in network._flat_weights}
    assert len(storages) == 1, "PyTorch could not make the weights views of one buffer"
    pseudo_layers = layers * (2 if bidirectional else 1)
    # cuDNN's weight space has room for biases also where a network has none.
    unused = 0 if bias else pseudo_layers * 2 * GATES[cell] * HIDDEN
    buffer = network._flat_weights[0].untyped_storage().nbytes() // 4
    assert buffer == elements_of(network) + unused, (options, buffer)
    spans = sorted((w.data_ptr(), w.data_ptr() + 4 * w.numel()) for w in network._flat_weights)
    assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:]))
    x = torch.randn(5, 7, 24, device="cuda", requires_grad=True)
    network(x)[0].sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    packed = pack_padded_sequence(x, torch.tensor([5, 5, 4, 3, 2, 1, 1]))
    network(packed)[0].data.sum().backward()


for cell, layers, bidirectional, bias in itertools.product(GATES, (1, 3), (False, True), (True, False)):
    for projection in (0, 16) if cell is torch.nn.LSTM else (0,):
        check(cell, layers, bidirectional, bias, projection)
print("done")
