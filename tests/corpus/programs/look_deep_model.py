# SPDX-License-Identifier: Apache-2.0
"""A deep network written out line by line, as exporters do it: some two hundred call sites."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Exported(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.weights = nn.ParameterList(torch.randn(width, width) / 7 for _ in range(40))
        self.biases = nn.ParameterList(torch.zeros(width) for _ in range(40))

    def forward(self, x):
        w, b = self.weights, self.biases
        h0 = F.linear(x, w[0], b[0])
        a0 = F.relu(h0)
        n0 = F.layer_norm(a0, (48,))
        s0 = n0 * 0.57
        x = x + s0
        h1 = F.linear(x, w[1], b[1])
        a1 = F.gelu(h1)
        n1 = F.layer_norm(a1, (48,))
        s1 = n1 * 0.65
        x = x + s1
        h2 = F.linear(x, w[2], b[2])
        a2 = F.silu(h2)
        n2 = F.layer_norm(a2, (48,))
        s2 = n2 * 0.68
        x = x + s2
        h3 = F.linear(x, w[3], b[3])
        a3 = torch.tanh(h3)
        n3 = F.layer_norm(a3, (48,))
        s3 = n3 * 0.77
        x = x + s3
        h4 = F.linear(x, w[4], b[4])
        a4 = F.elu(h4)
        n4 = F.layer_norm(a4, (48,))
        s4 = n4 * 0.64
        x = x + s4
        h5 = F.linear(x, w[5], b[5])
        a5 = F.relu(h5)
        n5 = F.layer_norm(a5, (48,))
        s5 = n5 * 0.75
        x = x + s5
        h6 = F.linear(x, w[6], b[6])
        a6 = F.gelu(h6)
        n6 = F.layer_norm(a6, (48,))
        s6 = n6 * 0.22
        x = x + s6
        h7 = F.linear(x, w[7], b[7])
        a7 = F.silu(h7)
        n7 = F.layer_norm(a7, (48,))
        s7 = n7 * 0.48
        x = x + s7
        h8 = F.linear(x, w[8], b[8])
        a8 = torch.tanh(h8)
        n8 = F.layer_norm(a8, (48,))
        s8 = n8 * 0.77
        x = x + s8
        h9 = F.linear(x, w[9], b[9])
        a9 = F.elu(h9)
        n9 = F.layer_norm(a9, (48,))
        s9 = n9 * 0.59
        x = x + s9
        h10 = F.linear(x, w[10], b[10])
        a10 = F.relu(h10)
        n10 = F.layer_norm(a10, (48,))
        s10 = n10 * 0.74
        x = x + s10
        h11 = F.linear(x, w[11], b[11])
        a11 = F.gelu(h11)
        n11 = F.layer_norm(a11, (48,))
        s11 = n11 * 0.27
        x = x + s11
        h12 = F.linear(x, w[12], b[12])
        a12 = F.silu(h12)
        n12 = F.layer_norm(a12, (48,))
        s12 = n12 * 0.48
        x = x + s12
        h13 = F.linear(x, w[13], b[13])
        a13 = torch.tanh(h13)
        n13 = F.layer_norm(a13, (48,))
        s13 = n13 * 0.35
        x = x + s13
        h14 = F.linear(x, w[14], b[14])
        a14 = F.elu(h14)
        n14 = F.layer_norm(a14, (48,))
        s14 = n14 * 0.53
        x = x + s14
        h15 = F.linear(x, w[15], b[15])
        a15 = F.relu(h15)
        n15 = F.layer_norm(a15, (48,))
        s15 = n15 * 0.54
        x = x + s15
        h16 = F.linear(x, w[16], b[16])
        a16 = F.gelu(h16)
        n16 = F.layer_norm(a16, (48,))
        s16 = n16 * 0.21
        x = x + s16
        h17 = F.linear(x, w[17], b[17])
        a17 = F.silu(h17)
        n17 = F.layer_norm(a17, (48,))
        s17 = n17 * 0.33
        x = x + s17
        h18 = F.linear(x, w[18], b[18])
        a18 = torch.tanh(h18)
        n18 = F.layer_norm(a18, (48,))
        s18 = n18 * 0.37
        x = x + s18
        h19 = F.linear(x, w[19], b[19])
        a19 = F.elu(h19)
        n19 = F.layer_norm(a19, (48,))
        s19 = n19 * 0.75
        x = x + s19
        h20 = F.linear(x, w[20], b[20])
        a20 = F.relu(h20)
        n20 = F.layer_norm(a20, (48,))
        s20 = n20 * 0.66
        x = x + s20
        h21 = F.linear(x, w[21], b[21])
        a21 = F.gelu(h21)
        n21 = F.layer_norm(a21, (48,))
        s21 = n21 * 0.3
        x = x + s21
        h22 = F.linear(x, w[22], b[22])
        a22 = F.silu(h22)
        n22 = F.layer_norm(a22, (48,))
        s22 = n22 * 0.68
        x = x + s22
        h23 = F.linear(x, w[23], b[23])
        a23 = torch.tanh(h23)
        n23 = F.layer_norm(a23, (48,))
        s23 = n23 * 0.28
        x = x + s23
        h24 = F.linear(x, w[24], b[24])
        a24 = F.elu(h24)
        n24 = F.layer_norm(a24, (48,))
        s24 = n24 * 0.57
        x = x + s24
        h25 = F.linear(x, w[25], b[25])
        a25 = F.relu(h25)
        n25 = F.layer_norm(a25, (48,))
        s25 = n25 * 0.28
        x = x + s25
        h26 = F.linear(x, w[26], b[26])
        a26 = F.gelu(h26)
        n26 = F.layer_norm(a26, (48,))
        s26 = n26 * 0.2
        x = x + s26
        h27 = F.linear(x, w[27], b[27])
        a27 = F.silu(h27)
        n27 = F.layer_norm(a27, (48,))
        s27 = n27 * 0.72
        x = x + s27
        h28 = F.linear(x, w[28], b[28])
        a28 = torch.tanh(h28)
        n28 = F.layer_norm(a28, (48,))
        s28 = n28 * 0.33
        x = x + s28
        h29 = F.linear(x, w[29], b[29])
        a29 = F.elu(h29)
        n29 = F.layer_norm(a29, (48,))
        s29 = n29 * 0.33
        x = x + s29
        h30 = F.linear(x, w[30], b[30])
        a30 = F.relu(h30)
        n30 = F.layer_norm(a30, (48,))
        s30 = n30 * 0.79
        x = x + s30
        h31 = F.linear(x, w[31], b[31])
        a31 = F.gelu(h31)
        n31 = F.layer_norm(a31, (48,))
        s31 = n31 * 0.72
        x = x + s31
        h32 = F.linear(x, w[32], b[32])
        a32 = F.silu(h32)
        n32 = F.layer_norm(a32, (48,))
        s32 = n32 * 0.37
        x = x + s32
        h33 = F.linear(x, w[33], b[33])
        a33 = torch.tanh(h33)
        n33 = F.layer_norm(a33, (48,))
        s33 = n33 * 0.78
        x = x + s33
        h34 = F.linear(x, w[34], b[34])
        a34 = F.elu(h34)
        n34 = F.layer_norm(a34, (48,))
        s34 = n34 * 0.52
        x = x + s34
        h35 = F.linear(x, w[35], b[35])
        a35 = F.relu(h35)
        n35 = F.layer_norm(a35, (48,))
        s35 = n35 * 0.61
        x = x + s35
        h36 = F.linear(x, w[36], b[36])
        a36 = F.gelu(h36)
        n36 = F.layer_norm(a36, (48,))
        s36 = n36 * 0.32
        x = x + s36
        h37 = F.linear(x, w[37], b[37])
        a37 = F.silu(h37)
        n37 = F.layer_norm(a37, (48,))
        s37 = n37 * 0.76
        x = x + s37
        h38 = F.linear(x, w[38], b[38])
        a38 = torch.tanh(h38)
        n38 = F.layer_norm(a38, (48,))
        s38 = n38 * 0.61
        x = x + s38
        h39 = F.linear(x, w[39], b[39])
        a39 = F.elu(h39)
        n39 = F.layer_norm(a39, (48,))
        s39 = n39 * 0.78
        x = x + s39
        return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Exported().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        loss = model(torch.randn(64, 48, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
