# SPDX-License-Identifier: Apache-2.0
"""Three agents that learn to act together; each hears what the others said in the last two steps."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Agent(nn.Module):
    def __init__(self, observation=24, message=64, actions=6, peers=2, heard=2):
        super().__init__()
        self.heard, self.peers = heard, peers
        self.message_size = message
        self.speak = nn.Linear(observation, message)
        self.policy = nn.Sequential(nn.Linear(observation + heard * peers * message, 64), nn.Tanh(), nn.Linear(64, actions))
        self.inbox = []

    def listen(self, batch):
        recent = self.inbox[-self.heard * self.peers:]
        silence = torch.zeros(batch, self.message_size, device="cuda")
        return torch.cat(recent + [silence] * (self.heard * self.peers - len(recent)), dim=1)

    def act(self, observation):
        logits = self.policy(torch.cat([observation, self.listen(len(observation))], dim=1))
        return torch.distributions.Categorical(logits=logits, validate_args=False)


class Field:
    """Many games at once; what the agents do changes their observations a little."""

    def __init__(self, games, agents):
        self.state = torch.zeros(games, agents, 24, device="cuda")

    def move(self, actions):
        pushed = F.one_hot(torch.stack(actions, dim=1), 24).float()
        self.state = 0.9 * self.state + 0.1 * pushed
        return self.state.mean((1, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=57)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    agents = nn.ModuleList(Agent() for _ in range(3)).cuda()
    optimizer = torch.optim.RMSprop(agents.parameters(), lr=1e-3)
    field = Field(args.games, len(agents))
    for step in range(args.steps):
        seen = field.state.unbind(1)  # step
        choices = [agent.act(observation) for agent, observation in zip(agents, seen)]
        actions = [choice.sample() for choice in choices]
        for speaker, observation in zip(agents, seen):
            said = torch.tanh(speaker.speak(observation)).detach()  # allocates
            for listener in agents:
                if listener is not speaker:
                    listener.inbox.append(said)  # keeps
        reward = field.move(actions)
        loss = -sum((choice.log_prob(action) * reward).mean() for choice, action in zip(choices, actions))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("reward", reward.mean().item())


if __name__ == "__main__":
    main()
