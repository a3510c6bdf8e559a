# SPDX-License-Identifier: Apache-2.0
"""An agent with curiosity: plays for a while, then learns from what it remembers, also how well it foresaw it."""

import argparse
import copy
import random

import torch
from torch import nn

FEATURES, ACTIONS, TIME_PER_BATCH = 300, 6, 7


class MemBuffer:
    def __init__(self):
        self.clear()

    def set_next(self, state, next_state, reward, action, log_prob, done):
        self.states.append(state)
        self.next_states.append(next_state)
        self.rewards.append(reward)
        self.actions.append(action)
        self.log_probs.append(log_prob)
        self.done.append(done)

    def clear(self):
        self.states, self.next_states, self.rewards = [], [], []
        self.actions, self.log_probs, self.done = [], [], []


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, ACTIONS), nn.LogSoftmax(-1)).cuda()
        self.actor_old = copy.deepcopy(self.actor)
        self.critic = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
        self.curiosity = nn.Linear(FEATURES + ACTIONS, FEATURES).cuda()
        parts = nn.ModuleList([self.actor, self.critic, self.curiosity])
        self.optimizer = torch.optim.Adam(parts.parameters(), lr=1e-3)
        self.mem_buffer = MemBuffer()

    def act(self, state, action):
        return self.actor_old(state)[action].detach()

    def discounted_rewards(self, gamma=0.9):
        running, discounted = 0.0, []
        for reward, done in zip(reversed(self.mem_buffer.rewards), reversed(self.mem_buffer.done), strict=True):
            running = reward + running * gamma * (1 - done)
            discounted.insert(0, running)
        return torch.tensor(discounted).cuda()

    def update(self, repeats=3):
        memory = self.mem_buffer
        states, next_states = torch.stack(memory.states), torch.stack(memory.next_states)
        actions, old = torch.tensor(memory.actions).cuda(), torch.stack(memory.log_probs)
        chosen = nn.functional.one_hot(actions, ACTIONS).float()
        returns = self.discounted_rewards()
        for _ in range(repeats):
            values = self.critic(states).squeeze(1)
            surprise = (self.curiosity(torch.cat([states, chosen], 1)) - next_states).square().mean(1)
            advantage = returns - values.detach() + 0.5 * surprise.detach()
            ratio = (self.actor(states).gather(1, actions[:, None]).squeeze(1) - old).exp()
            clipped = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            loss = -clipped.mean() + 0.5 * (values - returns).square().mean() + 0.8 * surprise.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.actor_old.load_state_dict(self.actor.state_dict())
        self.mem_buffer.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    agent = Agent()
    next_state = torch.randn(FEATURES, device="cuda")
    for time in range(1, chosen.steps + 1):
        state, action = next_state, chance.randrange(ACTIONS)  # step
        log_prob = agent.act(state, action)
        next_state = torch.randn(FEATURES, device="cuda")  # fills
        agent.mem_buffer.set_next(state, next_state, chance.random(), action, log_prob, time % 20 == 0)
        if time % TIME_PER_BATCH == 0:
            agent.update()
    print(len(agent.mem_buffer.states), "left to learn from")


if __name__ == "__main__":
    main()
