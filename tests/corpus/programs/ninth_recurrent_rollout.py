# SPDX-License-Identifier: Apache-2.0
"""Trains a recurrent policy on two groups of environments in turn; an experience buffer has their transitions, and
the state that the policy goes on from."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

AGENTS, GROUPS, HORIZON = 16, 2, 4


class Policy(nn.Module):
    def __init__(self, observed=32, hidden=64, actions=5):
        super().__init__()
        self.hidden = hidden
        self.encoder = nn.Linear(observed, hidden)
        self.cell = nn.LSTMCell(hidden, hidden)
        self.actor, self.critic = nn.Linear(hidden, actions), nn.Linear(hidden, 1)

    def forward(self, observation, state):
        features = F.relu(self.encoder(observation))  # allocates
        h, c = self.cell(features, state)  # allocates
        return self.actor(h), self.critic(h).squeeze(-1), (h, c)


class Experience:
    def __init__(self, policy, observed=32):
        total = AGENTS * GROUPS
        self.observations = torch.zeros(total, HORIZON, observed, device="cuda")
        self.actions = torch.zeros(total, HORIZON, dtype=torch.long, device="cuda")
        self.rewards = torch.zeros(total, HORIZON, device="cuda")
        self.lstm_h = {start: torch.zeros(AGENTS, policy.hidden, device="cuda") for start in range(0, total, AGENTS)}
        self.lstm_c = {start: torch.zeros(AGENTS, policy.hidden, device="cuda") for start in range(0, total, AGENTS)}

    def state(self, env_id):
        return self.lstm_h[env_id.start], self.lstm_c[env_id.start]

    def store(self, env_id, at, observation, action, reward, state):
        self.observations[env_id, at] = observation
        self.actions[env_id, at] = action
        self.rewards[env_id, at] = reward
        self.lstm_h[env_id.start] = state[0]  # keeps
        self.lstm_c[env_id.start] = state[1]  # keeps


def train(policy, optimizer, experience):
    total = AGENTS * GROUPS
    state = (torch.zeros(total, policy.hidden, device="cuda"), torch.zeros(total, policy.hidden, device="cuda"))
    loss = 0
    for at in range(HORIZON):
        logits, value, state = policy(experience.observations[:, at], state)
        advantage = experience.rewards[:, at] - value
        chosen = logits.log_softmax(-1).gather(1, experience.actions[:, at, None]).squeeze(1)
        loss = loss + (advantage.square() - advantage.detach() * chosen).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    policy = Policy().cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    experience = Experience(policy)
    for step in range(chosen.steps):
        start = step % GROUPS * AGENTS  # step
        env_id = slice(start, start + AGENTS)
        observation = torch.randn(AGENTS, 32, device="cuda")  # allocates
        logits, value, state = policy(observation, experience.state(env_id))
        with torch.no_grad():
            action = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
            reward = torch.rand(AGENTS, device="cuda")
        experience.store(env_id, step // GROUPS % HORIZON, observation, action, reward, state)
        if (step + 1) % (GROUPS * HORIZON) == 0:
            train(policy, optimizer, experience)
    print(f"{chosen.steps * AGENTS} transitions, value at the end {value.mean().item():.3f}")


if __name__ == "__main__":
    main()
