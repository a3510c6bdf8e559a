# SPDX-License-Identifier: Apache-2.0
"""Trains an actor and a critic on rollouts of some steps in several environments."""

import argparse

import torch
from torch import nn

ENVIRONMENTS = 16


class NStepBatchBuffer:
    """States, actions and rewards, until there are enough for returns over n steps."""

    def __init__(self, n_steps, discount=0.99):
        self.n_steps, self.discount = n_steps, discount
        self.states, self.actions, self.rewards = [], [], []

    def __len__(self):
        return max(len(self.states) - 1, 0) * ENVIRONMENTS

    def store(self, states, actions, rewards):
        self.states.append(states)
        self.actions.append(actions)
        self.rewards.append(rewards)

    def sample(self):
        returns = torch.zeros(self.n_steps, ENVIRONMENTS, device="cuda")
        current = torch.zeros(ENVIRONMENTS, device="cuda")
        for t in reversed(range(self.n_steps)):
            current = self.rewards[t] + self.discount * current
            returns[t] = current
        states, actions = torch.cat(self.states[:self.n_steps]), torch.cat(self.actions[:self.n_steps])
        self.states = self.states[self.n_steps:]
        self.actions = self.actions[self.n_steps:]
        self.rewards = self.rewards[self.n_steps:]
        return states, actions, returns.view(-1)


class ActorCritic:
    def __init__(self, observation=256, actions=6, n_steps=9):
        self.features = nn.Sequential(nn.Linear(observation, 64), nn.ReLU()).cuda()
        self.policy, self.value = nn.Linear(64, actions).cuda(), nn.Linear(64, 1).cuda()
        self.optimizer = torch.optim.RMSprop(
            [*self.features.parameters(), *self.policy.parameters(), *self.value.parameters()], lr=7e-4)
        self.buffer = NStepBatchBuffer(n_steps)

    def act(self, states):
        with torch.no_grad():
            actions = self.policy(self.features(states)).argmax(1)  # fills
        return actions

    def train(self):
        states, actions, returns = self.buffer.sample()
        features = self.features(states)
        log_probs = self.policy(features).log_softmax(1).gather(1, actions[:, None])[:, 0]
        advantages = returns - self.value(features)[:, 0]
        loss = advantages.square().mean() - (log_probs * advantages.detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def observe():
    states = torch.randn(ENVIRONMENTS, 256, device="cuda")  # fills
    rewards = torch.randn(ENVIRONMENTS, device="cuda")  # fills
    return states, rewards


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    agent = ActorCritic()
    for step in range(chosen.steps):
        states, rewards = observe()  # step
        agent.buffer.store(states, agent.act(states), rewards)
        if len(agent.buffer) >= agent.buffer.n_steps * ENVIRONMENTS:
            print(f"step {step}: loss {agent.train():.4f}")


if __name__ == "__main__":
    main()
