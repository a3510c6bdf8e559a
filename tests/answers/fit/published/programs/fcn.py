# SPDX-License-Identifier: Apache-2.0
"""Trains a fully convolutional network on a dilated ResNet for Cityscapes, two pictures at once. Prints what torch counted."""

import argparse
import json
import os
import tempfile

import torch
from torch import distributed, nn
from torch.nn import functional
from torchvision.models import resnet
from torchvision.ops import Conv2dNormActivation

DEPTHS = {18: resnet.BasicBlock, 50: resnet.Bottleneck, 101: resnet.Bottleneck}
BLOCKS = {18: [2, 2, 2, 2], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3]}
CLASSES = 19


class Segmenter(nn.Module):
    """Backbone whose last two stages are dilated, a head on its output, and one more loss before its last stage."""

    def __init__(self, depth, head, side):
        super().__init__()
        if depth == 18:  # torchvision's basic block knows no dilation: set on its convolutions
            self.body = resnet.ResNet(DEPTHS[depth], BLOCKS[depth])
            for stage, dilation in ((self.body.layer3, 2), (self.body.layer4, 4)):
                for module in stage.modules():
                    if isinstance(module, nn.Conv2d):
                        module.stride = (1, 1)
                        if module.kernel_size == (3, 3):
                            module.dilation = module.padding = (dilation, dilation)
        else:
            self.body = resnet.ResNet(DEPTHS[depth], BLOCKS[depth], replace_stride_with_dilation=[False, True, True])
        wide = 512 if depth == 18 else 2048
        self.head = nn.Sequential(Conv2dNormActivation(wide, head, 3), Conv2dNormActivation(head, head, 3))
        self.joined = Conv2dNormActivation(wide + head, head, 3)
        self.out = nn.Sequential(nn.Dropout2d(0.1), nn.Conv2d(head, CLASSES, 1))
        self.side = nn.Sequential(Conv2dNormActivation(wide // 2, side, 3), nn.Dropout2d(0.1), nn.Conv2d(side, CLASSES, 1))

    def forward(self, x):
        body, size = self.body, x.shape[2:]
        x = body.maxpool(body.relu(body.bn1(body.conv1(x))))
        third = body.layer3(body.layer2(body.layer1(x)))
        last = body.layer4(third)
        main = self.out(self.joined(torch.cat([last, self.head(last)], dim=1)))
        return [functional.interpolate(each, size, mode="bilinear") for each in (main, self.side(third))]


parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, choices=DEPTHS, required=True)
parser.add_argument("--height", type=int, required=True)
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--batch", type=int, default=2)
parser.add_argument("--benchmark", action="store_true")
chosen = parser.parse_args()
torch.backends.cudnn.benchmark = chosen.benchmark

with torch.device("cuda"):
    model = Segmenter(chosen.depth, *((128, 64) if chosen.depth == 18 else (512, 256)))
model.body.fc = nn.Identity()
# One of several processes, as they trained: DistributedDataParallel keeps a second copy of the gradients.
file = os.path.join(tempfile.mkdtemp(), "store")
distributed.init_process_group("nccl", init_method=f"file://{file}", rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(model), broadcast_buffers=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
for _ in range(3):
    pictures = torch.zeros(chosen.batch, 3, chosen.height, chosen.width).cuda()
    classes = torch.zeros(chosen.batch, chosen.height, chosen.width, dtype=torch.long).cuda()
    main, side = (functional.cross_entropy(each, classes, ignore_index=255, reduction="none").mean() for each in model(pictures))
    optimizer.zero_grad()
    (main + 0.4 * side).backward()
    optimizer.step()
distributed.destroy_process_group()
print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))
