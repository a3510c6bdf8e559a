# SPDX-License-Identifier: Apache-2.0
"""Evaluates a text classifier that also returns the attentions of its layers, and measures how sharp they are."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

BATCH, TOKENS, WIDTH, HEADS = 8, 64, 64, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden):
        queries, keys, values = (part.view(BATCH, TOKENS, HEADS, -1).transpose(1, 2)
                                 for part in self.mixed(hidden).chunk(3, -1))
        attention = torch.softmax(queries @ keys.transpose(2, 3) * (WIDTH // HEADS) ** -0.5, -1)
        mixed = (attention @ values).transpose(1, 2).reshape(BATCH, TOKENS, WIDTH)
        return hidden + self.out(mixed), attention


class Classifier(nn.Module):
    def __init__(self, output_attentions):
        super().__init__()
        self.output_attentions = output_attentions
        self.embedding = nn.Embedding(500, WIDTH)
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens, labels):
        hidden, attentions = self.embedding(tokens), ()
        for layer in self.layers:
            hidden, attention = layer(hidden)
            attentions += (attention,)
        logits = self.head(hidden[:, 0])
        outputs = {"loss": F.cross_entropy(logits, labels), "logits": logits}
        if self.output_attentions:
            outputs["attentions"] = attentions
        return outputs


def nested_concat(kept, new):
    if isinstance(kept, tuple):
        return tuple(nested_concat(one, other) for one, other in zip(kept, new))
    return torch.cat((kept, new), dim=0)  # allocates


def nested_cpu(kept):
    return tuple(nested_cpu(one) for one in kept) if isinstance(kept, tuple) else kept.cpu()


class Evaluation:
    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def prediction_step(self, tokens, labels):
        outputs = self.model(tokens.cuda(), labels.cuda())
        loss = outputs.pop("loss")
        return loss, tuple(outputs.values())

    def run(self, batches):
        self.model.eval()
        losses_host = preds_host = None
        for tokens, labels in batches:
            loss, predictions = self.prediction_step(tokens, labels)  # step
            losses = loss.repeat(BATCH)
            losses_host = losses if losses_host is None else nested_concat(losses_host, losses)
            preds_host = predictions if preds_host is None else nested_concat(preds_host, predictions)  # keeps
        return losses_host.cpu(), nested_cpu(preds_host)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Classifier(output_attentions=True).cuda()
    batches = ((torch.randint(500, (BATCH, TOKENS)), torch.randint(2, (BATCH,))) for _ in range(chosen.steps))
    losses, (logits, attentions) = Evaluation(model).run(batches)
    print(f"loss {losses.mean().item():.4f}, {len(logits)} texts, sharpest {attentions[0].max().item():.3f}")


if __name__ == "__main__":
    main()
