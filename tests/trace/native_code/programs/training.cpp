// SPDX-License-Identifier: Apache-2.0
// Training with PyTorch's C++ library; with an argument it keeps what it predicted.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

namespace {

struct network : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(512, 1024));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(1024, 512));
  torch::Tensor forward(torch::Tensor x) { return second->forward(torch::relu(first->forward(x))); }
};

std::vector<torch::Tensor> predictions;

void keep(const torch::Tensor& predicted) {
  predictions.push_back(predicted.detach().clone());  // 1, which keeps: (anonymous namespace)::keep
}

}  // namespace

int main(int count, char**) {
  network model;
  model.to(torch::kCUDA);
  torch::optim::Adam optimizer(model.parameters(), 1e-3);
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    const auto batch = torch::ones({4096, 512}, torch::kCUDA);
    const auto predicted = model.forward(batch);
    (predicted - batch).pow(2).mean().backward();
    optimizer.step();
    if (count > 1) keep(predicted);  // 2: main
  }
  std::printf("{\"kept\": %zu}\n", predictions.size() * 4096 * 512 * 4);
}
