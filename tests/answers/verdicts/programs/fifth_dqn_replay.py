# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning with a replay memory of the last thirty moves of 32 environments."""

import argparse
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

CONFIG = {"capacity": 30, "gamma": 0.98, "sampled": 4, "lr": 1e-3, "environments": 32, "observed": 512}


class Agent:
    def __init__(self, config):
        self.config = config
        self.net = self.network().cuda()
        self.target = self.network().cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config["lr"])
        self.memory = deque(maxlen=config["capacity"])

    def network(self):
        return nn.Sequential(nn.Linear(self.config["observed"], 128), nn.ReLU(), nn.Linear(128, 4))

    def act(self, state):
        with torch.no_grad():
            return self.net(state).argmax(1)

    def remember(self, *transition):
        self.memory.append(transition)

    def learn(self):
        loss = 0.0
        for state, action, reward, after in random.sample(self.memory, min(len(self.memory), self.config["sampled"])):
            with torch.no_grad():
                wanted = reward + self.config["gamma"] * self.target(after).max(1).values
            loss = loss + F.smooth_l1_loss(self.net(state).gather(1, action[:, None])[:, 0], wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    agent = Agent(CONFIG)
    state = torch.randn(CONFIG["environments"], CONFIG["observed"]).cuda()
    for step in range(args.steps):
        action = agent.act(state)  # step
        after = torch.randn(CONFIG["environments"], CONFIG["observed"]).cuda()
        agent.remember(state, action, torch.rand(CONFIG["environments"]).cuda(), after)
        state = after
        agent.learn()
        if step % 10 == 9:
            agent.target.load_state_dict(agent.net.state_dict())


if __name__ == "__main__":
    main()
