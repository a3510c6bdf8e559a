// SPDX-License-Identifier: Apache-2.0
//
// Where a recurrent network's parameters lie in cuDNN's weight space, and how much memory it works
// in. All matrices come first, layer by layer (in a bidirectional network the forward, then the
// backward direction of each), then all biases in the same order. Within a layer the gates' input
// matrices, then their recurrent matrices, then the projection, without gaps: PyTorch makes one
// view of the input matrices of all gates, and checks that they follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace memtrace::simulator::cudnn {

enum cell_kind : int { relu_cell = 0, tanh_cell = 1, lstm_cell = 2, gru_cell = 3 };
enum bias_mode : int { no_bias = 0, input_bias = 1, double_bias = 2, recurrent_bias = 3 };

struct rnn_shape {
  int cell = lstm_cell;
  int biases = double_bias;
  bool bidirectional = false;
  bool skip_input = false;  // the first layer takes its input as it is, without matrices
  int input_size = 0;
  int hidden_size = 0;
  int projection_size = 0;  // = hidden_size: no projection
  int layers = 0;
};

// A matrix (or with one column a bias) in the weight space, in elements.
struct rnn_parameter {
  std::size_t offset;
  std::size_t rows;
  std::size_t columns;
};

[[nodiscard]] int directions(const rnn_shape& shape);
[[nodiscard]] int gates(const rnn_shape& shape);
[[nodiscard]] bool projected(const rnn_shape& shape);
[[nodiscard]] std::size_t output_size(const rnn_shape& shape);  // of one direction

// Elements of the whole weight space.
[[nodiscard]] std::size_t weight_elements(const rnn_shape& shape);

// `pseudo_layer`: layer × directions + direction. `id`: 0 … gates − 1 for the input, then as many
// recurrent ones, then the projection. Nothing if the network has no such parameter.
[[nodiscard]] std::optional<rnn_parameter> matrix_of(const rnn_shape& shape, int pseudo_layer,
                                                     int id);
[[nodiscard]] std::optional<rnn_parameter> bias_of(const rnn_shape& shape, int pseudo_layer,
                                                   int id);

// Elements that a training forward pass keeps for the backward pass, `steps` being the sum of the
// sequences' lengths. Unverified; what the backward pass needs at least: of each cell its gates'
// activations, an LSTM's cell state, a GRU's recurrent part of the candidate, a projection's
// input, and each layer's output but the last's.
[[nodiscard]] std::size_t reserve_elements(const rnn_shape& shape, std::size_t steps);

// Bytes of dropout masks between layers, one an element; part of the reserve.
[[nodiscard]] std::size_t mask_bytes(const rnn_shape& shape, std::size_t steps);

// Elements of scratch memory. Unverified: one layer's gates before their activation.
[[nodiscard]] std::size_t work_elements(const rnn_shape& shape, std::size_t steps);

}  // namespace memtrace::simulator::cudnn
