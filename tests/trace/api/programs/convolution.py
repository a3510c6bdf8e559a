# SPDX-License-Identifier: Apache-2.0
"""A convolution, whose plan asks for a workspace; forward and backward."""
import torch

layer = torch.nn.Conv2d(3, 16, 3).cuda()
layer(torch.zeros(4, 3, 32, 32, device="cuda")).sum().backward()
torch.cuda.synchronize()
