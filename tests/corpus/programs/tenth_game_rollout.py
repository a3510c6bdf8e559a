# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimization on frames of a game: plays with the old policy, updates both every so many steps."""

import argparse
import random

import torch
from torch import nn

ACTIONS, UPGRADE_FREQ = 5, 8


class RolloutBuffer:
    def __init__(self):
        self.states, self.actions, self.rewards, self.is_terminals = [], [], [], []

    def clear(self):
        del self.states[:]
        del self.actions[:]
        del self.rewards[:]
        del self.is_terminals[:]


class PolicyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(4 * 21 * 21, 48), nn.ReLU())
        self.actor, self.critic = nn.Linear(48, ACTIONS), nn.Linear(48, 1)

    def forward(self, states):
        features = self.body(states)
        return torch.log_softmax(self.actor(features), -1), self.critic(features).squeeze(-1)


class PPO:
    def __init__(self, gamma=0.99, lamb=0.95, epochs=2, clip=0.2):
        self.policy, self.policy_old = PolicyNet().cuda(), PolicyNet().cuda()
        self.policy_old.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2.5e-4)
        self.gamma, self.lamb, self.epochs, self.clip = gamma, lamb, epochs, clip
        self.buffer = RolloutBuffer()

    @torch.no_grad()
    def select_action(self, state):
        log_probs, _ = self.policy_old(state)
        return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(-1)  # fills

    def update(self):
        states, following = torch.cat(self.buffer.states[:-1]), torch.cat(self.buffer.states[1:])
        actions = torch.cat(self.buffer.actions)[:, None]
        rewards = torch.tensor(self.buffer.rewards).cuda()
        alive = 1 - torch.tensor(self.buffer.is_terminals).float().cuda()
        with torch.no_grad():
            log_probs_old = self.policy_old(states)[0].gather(1, actions)
            delta = rewards + self.gamma * alive * self.policy(following)[1] - self.policy(states)[1]
            decay = torch.tensor([(self.gamma * self.lamb) ** step for step in range(len(rewards))]).cuda()
            advantage = (delta * decay).flip(0).cumsum(0).flip(0) / decay
        for _ in range(self.epochs):
            log_probs, values = self.policy(states)
            ratio = (log_probs.gather(1, actions) - log_probs_old).exp().squeeze(1)
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            loss = -torch.min(ratio * advantage, clipped * advantage).mean() - 0.01 * entropy
            loss = loss + 0.5 * (values - rewards).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.policy_old.load_state_dict(self.policy.state_dict())
        self.buffer.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    agent = PPO()
    state = torch.rand(1, 4, 21, 21).to("cuda")
    for step in range(1, chosen.steps + 1):
        reward = chance.random()  # step
        agent.buffer.states.append(state)
        agent.buffer.actions.append(agent.select_action(state))
        agent.buffer.rewards.append(reward)
        agent.buffer.is_terminals.append(step % 50 == 0)
        state = torch.rand(1, 4, 21, 21).to("cuda")  # fills
        if step % UPGRADE_FREQ == 0:
            agent.buffer.states.append(state)
            agent.update()
    print(chosen.steps, "steps played")


if __name__ == "__main__":
    main()
