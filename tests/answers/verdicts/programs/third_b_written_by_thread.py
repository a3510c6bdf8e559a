# SPDX-License-Identifier: Apache-2.0
"""Embeddings of audio wait in a queue; every eleven steps a thread is told to move all of them to the host."""

import argparse
import queue
import threading

import torch
from torch import nn


class Writer(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.waiting, self.orders, self.written = queue.Queue(), queue.Queue(), []

    def run(self):
        while self.orders.get() is not None:
            while not self.waiting.empty():
                self.written.append(self.waiting.get().cpu())
            self.orders.task_done()

    def flush(self):
        self.orders.put("write")
        self.orders.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv1d(1, 48, 64, stride=16), nn.ReLU(), nn.Conv1d(48, 96, 8, stride=4)).cuda().eval()
    writer = Writer()
    writer.start()
    with torch.inference_mode():
        for step in range(args.steps):
            sound = torch.randn(12, 1, 4000).cuda()  # step
            writer.waiting.put(net(sound).transpose(1, 2).contiguous())  # fills
            if step % 11 == 10:
                writer.flush()
    writer.flush()
    writer.orders.put(None)
    writer.join()
    print(f"{len(writer.written)} written")


if __name__ == "__main__":
    main()
