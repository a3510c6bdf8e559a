# SPDX-License-Identifier: Apache-2.0
"""Balances a pole on a cart with proximal policy optimization; the policy is renewed every ten moves."""

import argparse
import math
import random

import torch
import torch.nn.functional as F
from torch import nn


class Cart:
    """A pole on a cart, roughly."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = [self.rng.uniform(-0.05, 0.05) for _ in range(4)]
        return list(self.state)

    def step(self, action):
        place, speed, angle, turn = self.state
        force = 0.2 if action else -0.2
        turn += 0.02 * (9.8 * math.sin(angle) - force)
        self.state = [place + 0.02 * speed, speed + force, angle + 0.02 * turn, turn]
        return list(self.state), 1.0, abs(self.state[2]) > 0.2


class RolloutBuffer:
    def __init__(self):
        self.states, self.actions, self.log_probs = [], [], []
        self.rewards, self.is_terminals = [], []

    def clear(self):
        for part in (self.states, self.actions, self.log_probs, self.rewards, self.is_terminals):
            part.clear()


class Agent:
    def __init__(self, rng, hidden=64, gamma=0.99, epochs=4):
        self.rng, self.gamma, self.epochs = rng, gamma, epochs
        self.actor = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 2), nn.LogSoftmax(-1)).cuda()
        self.critic = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 1)).cuda()
        self.optimizer = torch.optim.Adam([{"params": self.actor.parameters(), "lr": 3e-4},
                                           {"params": self.critic.parameters(), "lr": 1e-3}])
        self.data = RolloutBuffer()

    def select_action(self, state):
        state = torch.tensor(state).cuda()  # fills
        log_probs = self.actor(state)
        move = self.rng.randrange(2)  # it explores
        action = torch.tensor(move, device="cuda")  # fills
        self.data.states.append(state)
        self.data.actions.append(action)
        self.data.log_probs.append(log_probs.gather(0, action[None]).detach())  # fills
        return move

    def rewards_to_go(self):
        returns, ahead = [], 0.0
        for reward, done in zip(reversed(self.data.rewards), reversed(self.data.is_terminals)):
            ahead = reward + (0.0 if done else self.gamma * ahead)
            returns.insert(0, ahead)
        return torch.tensor(returns, device="cuda")

    def update(self):
        returns = self.rewards_to_go()
        states, actions = torch.stack(self.data.states), torch.stack(self.data.actions)
        old = torch.cat(self.data.log_probs)
        for _ in range(self.epochs):
            log_probs = self.actor(states).gather(1, actions[:, None]).squeeze(1)
            values = self.critic(states).squeeze(1)
            ratios, advantages = (log_probs - old).exp(), returns - values.detach()
            loss = -torch.min(ratios * advantages, ratios.clamp(0.8, 1.2) * advantages).mean()
            loss = loss + 0.5 * F.mse_loss(values, returns)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.data.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples-per-policy", type=int, default=10)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    cart, agent = Cart(rng), Agent(rng)
    state, score = cart.reset(), 0.0
    for move in range(1, chosen.steps + 1):
        action = agent.select_action(state)  # step
        state, reward, done = cart.step(action)
        score += reward
        agent.data.rewards.append(reward)
        agent.data.is_terminals.append(done)
        if move % chosen.samples_per_policy == 0:
            agent.update()
        if done:
            print(f"fell after {score:.0f} moves")
            state, score = cart.reset(), 0.0


if __name__ == "__main__":
    main()
