# SPDX-License-Identifier: Apache-2.0
"""Every fifth step the weights are copied on the GPU, and a thread takes its time to bring the copy to the host."""

import argparse
import queue
import threading

import torch
from torch import nn


class Writer:
    def __init__(self, places=2):
        self.waiting, self.written = queue.Queue(maxsize=places), []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            step, weights = self.waiting.get()
            self.written.append((step, sum(value.cpu().numel() for value in weights.values())))
            del weights
            self.waiting.task_done()

    def save(self, step, model):
        self.waiting.join()
        self.waiting.put((step, {name: value.clone() for name, value in model.state_dict().items()}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.LSTM(64, 128, num_layers=2, batch_first=True).cuda()
    optimizer, writer = torch.optim.Adam(net.parameters()), Writer()
    for step in range(1, args.steps + 1):
        rows = torch.randn(16, 20, 64).cuda()  # step
        loss = net(rows)[0].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            writer.save(step, net)
    writer.waiting.join()
    print(f"written at {[step for step, _ in writer.written]}")


if __name__ == "__main__":
    main()
