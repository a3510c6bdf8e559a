// SPDX-License-Identifier: Apache-2.0
// Class and function templates, an operator, a lambda.
#include "server.h"

namespace math {

template <class Element, int Rank>
struct tensor {
  void* data = nullptr;
  [[gnu::noinline]] explicit tensor(std::size_t elements)
      : data(server::take(elements * sizeof(Element))) {}  // 1: math::tensor<float, 2>::tensor
};

template <class Element>
[[gnu::noinline]] tensor<Element, 2> operator+(const tensor<Element, 2>&, std::size_t elements) {
  tensor<Element, 2> sum(elements);  // 2, which keeps: math::operator+<float>
  return sum;
}

}  // namespace math

int main(int count, char**) {
  const math::tensor<float, 2> first(1024);
  const auto add = [&](std::size_t elements) __attribute__((noinline)) {
    server::work();
    const auto sum = first + elements;  // 3: main::{lambda(unsigned long)#1}::operator()
    if (count > 1) server::give_back(sum.data, elements * sizeof(float));
  };
  for (int i = 0; i < 40; ++i) {
    add(64 * 1024);  // 4: main
  }
  server::give_back(first.data, 1024 * sizeof(float));
  server::say();
}
