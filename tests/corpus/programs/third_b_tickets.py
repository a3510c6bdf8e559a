# SPDX-License-Identifier: Apache-2.0
"""A thread answers requests by ticket: who asked reads the answer, but nobody takes it out of the dictionary."""

import argparse
import queue
import threading

import torch
from torch import nn


class Service:
    def __init__(self, model):
        self.model, self.requests, self.answers = model, queue.Queue(), {}
        self.ready = threading.Condition()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while (request := self.requests.get()) is not None:
            ticket, rows = request
            with torch.inference_mode():
                answer = self.model(rows.cuda())  # allocates
            with self.ready:
                self.answers[ticket] = answer  # keeps
                self.ready.notify_all()

    def ask(self, ticket, rows):
        self.requests.put((ticket, rows))
        with self.ready:
            self.ready.wait_for(lambda: ticket in self.answers)
            return self.answers[ticket].argmax(-1).tolist()

    def close(self):
        self.requests.put(None)
        self.thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=57)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    service = Service(nn.Sequential(nn.Linear(50, 300), nn.ReLU(), nn.Linear(300, 350)).cuda().eval())
    for ticket in range(args.steps):
        rows = torch.randn(40, 50)  # step
        service.ask(f"ticket {ticket}", rows)
    service.close()
    print(f"{len(service.answers)} answers")


if __name__ == "__main__":
    main()
