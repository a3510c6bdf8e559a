# SPDX-License-Identifier: Apache-2.0
"""Learns to balance a pole by Q-learning from remembered transitions."""

import argparse
import random
from collections import deque, namedtuple

import torch
from torch import nn

MEMORY, BATCH, GAMMA, TAU = 48, 16, 0.99, 0.005

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size, draw):
        return draw.sample(list(self.memory), batch_size)

    def __len__(self):
        return len(self.memory)


class Pole:
    """Moves at random for a few steps, which is all that is needed of it."""

    def __init__(self, draw):
        self.draw = draw

    def reset(self):
        self.left = self.draw.randrange(6, 14)
        return self.look()

    def look(self):
        return [self.draw.uniform(-0.1, 0.1) for _ in range(4)]

    def step(self):
        self.left -= 1
        return self.look(), 1.0, self.left == 0


class Agent:
    def __init__(self, draw):
        self.draw = draw
        self.policy_net, self.target_net = (nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
                                            for _ in range(2))
        self.optimizer = torch.optim.AdamW(self.policy_net.parameters(), lr=3e-4, amsgrad=True)
        self.memory = ReplayMemory(MEMORY)

    def select_action(self, state, epsilon):
        if self.draw.random() > epsilon:
            with torch.no_grad():
                return self.policy_net(state).max(1).indices.view(1, 1)
        return torch.tensor([[self.draw.randrange(2)]], device="cuda")

    def optimize(self):
        if len(self.memory) < BATCH:
            return
        batch = Transition(*zip(*self.memory.sample(BATCH, self.draw)))
        going_on = [i for i, state in enumerate(batch.next_state) if state is not None]
        values = self.policy_net(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
        next_values = torch.zeros(BATCH, device="cuda")
        with torch.no_grad():
            next_states = torch.cat([batch.next_state[i] for i in going_on])
            next_values[going_on] = self.target_net(next_states).max(1).values
        wanted = next_values * GAMMA + torch.cat(batch.reward)
        loss = nn.functional.smooth_l1_loss(values, wanted.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.policy_net.parameters(), 100)
        self.optimizer.step()
        for slow, fast in zip(self.target_net.parameters(), self.policy_net.parameters()):
            slow.data.lerp_(fast.data, TAU)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    agent, pole, state, episodes = Agent(draw), Pole(draw), None, 0
    for step in range(chosen.steps):
        epsilon = 0.05 + 0.85 * 0.99 ** step  # step
        if state is None:
            state = torch.tensor([pole.reset()], device="cuda")
            episodes += 1
        action = agent.select_action(state, epsilon)
        seen, reward, ended = pole.step()
        next_state = None if ended else torch.tensor([seen], device="cuda")
        agent.memory.push(state, action, next_state, torch.tensor([reward], device="cuda"))
        state = next_state
        agent.optimize()
    print(f"{episodes} episodes, {len(agent.memory)} transitions")


if __name__ == "__main__":
    main()
