# SPDX-License-Identifier: Apache-2.0
"""Learns a schedule for charging cars with a soft actor-critic: one transition and one update in turn."""

import argparse
import random

import torch
from torch import nn
from torch.nn.functional import mse_loss

STATE, ACTION, HIDDEN = 108, 10, 64


class ReplayBuffer:
    def __init__(self, capacity, chance):
        self.capacity = capacity
        self.chance = chance
        self.buffer = []
        self.position = 0

    def push(self, state, action, reward, next_state, done):
        experience = (state, action, reward, next_state, done)
        if len(self.buffer) < self.capacity:
            self.buffer.append(experience)
        else:
            self.buffer[self.position] = experience
        self.position = (self.position + 1) % self.capacity

    def sample(self, batch_size):
        chosen = self.chance.sample(self.buffer, min(batch_size, len(self.buffer)))
        states, actions, rewards, next_states, _ = zip(*chosen, strict=True)
        return torch.stack(states), torch.stack(actions), torch.tensor(rewards).cuda(), torch.stack(next_states)


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs)).cuda()


class Controller:
    def __init__(self, chance, capacity):
        self.replay_buffer = ReplayBuffer(capacity, chance)
        self.value, self.target_value = network(STATE, 1), network(STATE, 1)
        self.soft_q, self.policy = network(STATE + ACTION, 1), network(STATE, ACTION)
        self.optimizers = [torch.optim.Adam(net.parameters(), lr=3e-4)
                           for net in (self.soft_q, self.value, self.policy)]

    def descend(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def update(self, batch_size=16, gamma=0.99):
        states, actions, rewards, next_states = self.replay_buffer.sample(batch_size)
        q_optimizer, value_optimizer, policy_optimizer = self.optimizers
        with torch.no_grad():
            target = rewards[:, None] + gamma * self.target_value(next_states)
        self.descend(q_optimizer, mse_loss(self.soft_q(torch.cat([states, actions], 1)), target))
        new_actions = torch.tanh(self.policy(states))
        predicted = self.soft_q(torch.cat([states, new_actions], 1))
        self.descend(value_optimizer, mse_loss(self.value(states), predicted.detach()))
        self.descend(policy_optimizer, -predicted.mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    controller = Controller(chance, capacity=64)
    state = torch.randn(STATE, device="cuda")
    for _ in range(chosen.steps):
        reward = chance.random()  # step
        with torch.no_grad():
            action = torch.tanh(controller.policy(state))
        next_state = torch.randn(STATE, device="cuda")
        controller.replay_buffer.push(state, action, reward, next_state, False)
        state = next_state
        controller.update()
    print(len(controller.replay_buffer.buffer), "transitions")


if __name__ == "__main__":
    main()
