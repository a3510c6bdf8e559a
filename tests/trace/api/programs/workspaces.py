# SPDX-License-Identifier: Apache-2.0
"""Uses each library's workspace, and copies from the host."""
import torch

x = torch.ones(64, 256)
on_gpu = x.cuda()
print("copied", on_gpu.data_ptr())
weights = torch.zeros(256, 256, device="cuda")
torch.mm(on_gpu, weights)
torch.addmm(torch.zeros(256, device="cuda"), on_gpu, weights)
lstm = torch.nn.LSTM(32, 32).cuda()
lstm(torch.zeros(5, 2, 32, device="cuda"))[0].sum().backward()
back = on_gpu.cpu()
same = on_gpu.clone()
torch.cuda.synchronize()
torch.fft.fft(torch.zeros(8, 1009, device="cuda", dtype=torch.complex64))
