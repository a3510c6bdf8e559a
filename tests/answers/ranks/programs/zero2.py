# SPDX-License-Identifier: Apache-2.0
import zero


def train(rank, ranks, differs):
    zero.train_stage(2, ranks)
