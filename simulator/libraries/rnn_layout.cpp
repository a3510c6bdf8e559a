// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/rnn_layout.h"

namespace memtrace::simulator::cudnn {
namespace {

std::size_t size(int value) {
  return static_cast<std::size_t>(value);
}

int pseudo_layers(const rnn_shape& shape) {
  return shape.layers * directions(shape);
}

// Columns of the input matrices; 0 if the layer has none.
std::size_t input_columns(const rnn_shape& shape, int pseudo_layer) {
  if (pseudo_layer >= directions(shape)) return output_size(shape) * size(directions(shape));
  return shape.skip_input ? 0 : size(shape.input_size);
}

std::size_t layer_matrix_elements(const rnn_shape& shape, int pseudo_layer) {
  const std::size_t hidden = size(shape.hidden_size);
  const std::size_t columns = input_columns(shape, pseudo_layer) + output_size(shape);
  const std::size_t projection = projected(shape) ? output_size(shape) * hidden : 0;
  return size(gates(shape)) * hidden * columns + projection;
}

// Biases of one gate: of the input, recurrent, or both.
int biases_of_gate(const rnn_shape& shape) {
  switch (shape.biases) {
    case no_bias:
      return 0;
    case double_bias:
      return 2;
    default:
      return 1;
  }
}

std::size_t layer_bias_elements(const rnn_shape& shape) {
  return size(biases_of_gate(shape) * gates(shape)) * size(shape.hidden_size);
}

std::size_t all_matrix_elements(const rnn_shape& shape, int before_pseudo_layer) {
  std::size_t elements = 0;
  for (int layer = 0; layer < before_pseudo_layer; ++layer) {
    elements += layer_matrix_elements(shape, layer);
  }
  return elements;
}

bool known_layer(const rnn_shape& shape, int pseudo_layer) {
  return pseudo_layer >= 0 && pseudo_layer < pseudo_layers(shape);
}

}  // namespace

int directions(const rnn_shape& shape) {
  return shape.bidirectional ? 2 : 1;
}

int gates(const rnn_shape& shape) {
  switch (shape.cell) {
    case lstm_cell:
      return 4;
    case gru_cell:
      return 3;
    default:
      return 1;
  }
}

bool projected(const rnn_shape& shape) {
  return shape.projection_size > 0 && shape.projection_size != shape.hidden_size;
}

std::size_t output_size(const rnn_shape& shape) {
  return size(projected(shape) ? shape.projection_size : shape.hidden_size);
}

std::size_t weight_elements(const rnn_shape& shape) {
  return all_matrix_elements(shape, pseudo_layers(shape)) +
         size(pseudo_layers(shape)) * layer_bias_elements(shape);
}

std::optional<rnn_parameter> matrix_of(const rnn_shape& shape, int pseudo_layer, int id) {
  if (!known_layer(shape, pseudo_layer) || id < 0) return std::nullopt;
  const std::size_t hidden = size(shape.hidden_size);
  const std::size_t output = output_size(shape);
  const std::size_t columns = input_columns(shape, pseudo_layer);
  const std::size_t first = all_matrix_elements(shape, pseudo_layer);
  const std::size_t recurrent = first + size(gates(shape)) * hidden * columns;
  const int gate = id % gates(shape);
  switch (id / gates(shape)) {
    case 0:
      if (columns == 0) return std::nullopt;
      return rnn_parameter{first + size(gate) * hidden * columns, hidden, columns};
    case 1:
      return rnn_parameter{recurrent + size(gate) * hidden * output, hidden, output};
    default:
      if (!projected(shape) || id != 2 * gates(shape)) return std::nullopt;
      return rnn_parameter{recurrent + size(gates(shape)) * hidden * output, output, hidden};
  }
}

std::optional<rnn_parameter> bias_of(const rnn_shape& shape, int pseudo_layer, int id) {
  if (!known_layer(shape, pseudo_layer) || id < 0 || id >= 2 * gates(shape)) return std::nullopt;
  const bool recurrent = id >= gates(shape);
  const bool present =
      shape.biases == double_bias || shape.biases == (recurrent ? recurrent_bias : input_bias);
  if (!present) return std::nullopt;
  const int place = shape.biases == double_bias ? id : id % gates(shape);
  const std::size_t hidden = size(shape.hidden_size);
  const std::size_t first = all_matrix_elements(shape, pseudo_layers(shape)) +
                            size(pseudo_layer) * layer_bias_elements(shape);
  return rnn_parameter{first + size(place) * hidden, hidden, 1};
}

std::size_t reserve_elements(const rnn_shape& shape, std::size_t steps) {
  const std::size_t hidden = size(shape.hidden_size);
  std::size_t cell = size(gates(shape)) * hidden;
  if (shape.cell == lstm_cell || shape.cell == gru_cell) cell += hidden;
  if (projected(shape)) cell += hidden;
  const std::size_t between = size((shape.layers - 1) * directions(shape)) * output_size(shape);
  return steps * (size(pseudo_layers(shape)) * cell + between);
}

std::size_t mask_bytes(const rnn_shape& shape, std::size_t steps) {
  return steps * size((shape.layers - 1) * directions(shape)) * output_size(shape);
}

std::size_t work_elements(const rnn_shape& shape, std::size_t steps) {
  return steps * size(directions(shape) * gates(shape)) * size(shape.hidden_size);
}

}  // namespace memtrace::simulator::cudnn
