# SPDX-License-Identifier: Apache-2.0
"""Learns a card game by playing against earlier versions of itself, one game a step."""

import argparse
import copy
import random
from collections import deque

import torch
from torch import nn

STATE, ACTIONS, PLAYERS, TURNS, BATCH = 64, 52, 4, 16, 16


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.actor, self.critic = nn.Linear(256, ACTIONS), nn.Linear(256, 1)

    def forward(self, states):
        features = self.body(states)
        return torch.log_softmax(self.actor(features), -1), self.critic(features).squeeze(-1)


class Agent:
    def __init__(self, model, lr):
        self.model, self.optimizer = model, torch.optim.Adam(model.parameters(), lr=lr)

    @torch.no_grad()
    def act(self, state, legal, rng):
        log_probs, value = self.model(torch.tensor([state], device="cuda"))
        action = rng.choice(legal)  # the cards that may be played are few
        return action, log_probs[0, action].item(), value.item()

    def update(self, buffer):
        states = torch.tensor([turn["state"] for turn in buffer], device="cuda")
        actions = torch.tensor([turn["action"] for turn in buffer], device="cuda")
        rewards = torch.tensor([turn["reward"] for turn in buffer], device="cuda")
        old = torch.tensor([turn["log_prob"] for turn in buffer], device="cuda")
        log_probs, values = self.model(states)
        ratio = (log_probs.gather(1, actions[:, None]).squeeze(1) - old).exp()
        advantage = rewards - values.detach()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = loss + 0.5 * (values - rewards).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def opponent_from(pool, rng):
    model = Policy().cuda()
    model.load_state_dict(rng.choice(list(pool)))
    return Agent(model.eval(), lr=1e-4)


def play(agents, rng):
    """The turns of the first player, with the reward of the game on the last."""
    turns = []
    for turn in range(TURNS):
        player = turn % PLAYERS
        state = [rng.random() for _ in range(STATE)]
        action, log_prob, value = agents[player].act(state, rng.sample(range(ACTIONS), 5), rng)
        if player == 0:
            turns.append({"state": state, "action": action, "log_prob": log_prob, "value": value, "reward": 0.0})
    turns[-1]["reward"] = 30.0 if rng.randrange(PLAYERS) == 0 else -30.0
    return turns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opponent-pool-size", type=int, default=5)
    parser.add_argument("--opponent-update-every", type=int, default=10)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    main_agent = Agent(Policy().cuda(), lr=8e-5)
    pool = deque(maxlen=chosen.opponent_pool_size)
    pool.append(copy.deepcopy(main_agent.model.state_dict()))
    buffer = []
    for game in range(1, chosen.steps + 1):
        agents = [main_agent] + [opponent_from(pool, rng) for _ in range(PLAYERS - 1)]  # step
        buffer += play(agents, rng)
        if len(buffer) >= BATCH:
            main_agent.update(buffer)
            buffer.clear()
        if game % chosen.opponent_update_every == 0:
            pool.append(copy.deepcopy(main_agent.model.state_dict()))
            print(f"game {game}, {len(pool)} opponents to choose from")


if __name__ == "__main__":
    main()
