// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/rnn_layout.h"

#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::simulator::cudnn;

namespace {

// Input 3, hidden 5, projection 2, two layers, both directions. By hand, from the definition of an
// LSTM with projection: 4 gates of 5 rows; the first layer has 3 input columns, the second 2 × 2;
// 2 recurrent columns; a projection of 2 × 5.
constexpr std::size_t first_input = 4 * 5 * 3;
constexpr std::size_t second_input = 4 * 5 * 4;
constexpr std::size_t recurrent = 4 * 5 * 2;
constexpr std::size_t projection = 2 * 5;
constexpr std::size_t first_layer = first_input + recurrent + projection;    // one direction
constexpr std::size_t second_layer = second_input + recurrent + projection;  // one direction
constexpr std::size_t matrices = 2 * first_layer + 2 * second_layer;
constexpr std::size_t biases = 4 * 2 * 4 * 5;  // pseudo layers × (input, recurrent) × gates × rows

rnn_shape projected_lstm() {
  rnn_shape shape;
  shape.bidirectional = true;
  shape.input_size = 3;
  shape.hidden_size = 5;
  shape.projection_size = 2;
  shape.layers = 2;
  return shape;
}

rnn_shape gru() {
  rnn_shape shape;
  shape.cell = gru_cell;
  shape.input_size = 7;
  shape.hidden_size = 4;
  shape.projection_size = 4;
  shape.layers = 3;
  return shape;
}

int pseudo_layers(const rnn_shape& shape) {
  return shape.layers * directions(shape);
}

// How many parameters cover each element of the weight space.
std::vector<int> coverage(const rnn_shape& shape) {
  std::vector<int> covered(weight_elements(shape), 0);
  const auto mark = [&covered](const std::optional<rnn_parameter>& parameter) {
    if (!parameter) return;
    for (std::size_t at = 0; at < parameter->rows * parameter->columns; ++at) {
      ++covered.at(parameter->offset + at);
    }
  };
  for (int layer = 0; layer < pseudo_layers(shape); ++layer) {
    for (int id = 0; id <= 2 * gates(shape); ++id) {
      mark(matrix_of(shape, layer, id));
      mark(bias_of(shape, layer, id));
    }
  }
  return covered;
}

}  // namespace

TEST_CASE("the weight space of a projected bidirectional LSTM has the size of its parameters") {
  REQUIRE(weight_elements(projected_lstm()) == matrices + biases);
  REQUIRE(weight_elements(projected_lstm()) == 640);
}

TEST_CASE("parameters of a projected bidirectional LSTM lie where they should") {
  const rnn_shape shape = projected_lstm();
  SECTION("first layer, backward direction, recurrent matrix of the third gate") {
    const auto found = matrix_of(shape, 1, 6);
    REQUIRE(found);
    REQUIRE(found->offset == first_layer + first_input + 2 * 5 * 2);
    REQUIRE(found->rows == 5);
    REQUIRE(found->columns == 2);
  }
  SECTION("second layer, forward direction, input matrix of the second gate") {
    const auto found = matrix_of(shape, 2, 1);
    REQUIRE(found);
    REQUIRE(found->offset == 2 * first_layer + 5 * 4);
    REQUIRE(found->columns == 4);
  }
  SECTION("second layer, backward direction, projection") {
    const auto found = matrix_of(shape, 3, 8);
    REQUIRE(found);
    REQUIRE(found->offset == matrices - projection);
    REQUIRE(found->rows == 2);
    REQUIRE(found->columns == 5);
  }
  SECTION("last bias") {
    const auto found = bias_of(shape, 3, 7);
    REQUIRE(found);
    REQUIRE(found->offset == matrices + biases - 5);
  }
}

TEST_CASE("every element of the weight space belongs to one parameter") {
  rnn_shape shape = GENERATE(projected_lstm(), gru());
  shape.biases = GENERATE(no_bias, input_bias, double_bias, recurrent_bias);
  const std::vector<int> covered = coverage(shape);
  REQUIRE(covered == std::vector<int>(covered.size(), 1));
}

TEST_CASE("gates follow each other, as PyTorch's views of all gates need") {
  const rnn_shape shape = GENERATE(projected_lstm(), gru());
  for (int layer = 0; layer < pseudo_layers(shape); ++layer) {
    for (int id = 1; id < 2 * gates(shape); ++id) {
      const auto before = matrix_of(shape, layer, id - 1);
      const auto bias_before = bias_of(shape, layer, id - 1);
      REQUIRE(matrix_of(shape, layer, id)->offset ==
              before->offset + before->rows * before->columns);
      REQUIRE(bias_of(shape, layer, id)->offset == bias_before->offset + bias_before->rows);
    }
  }
}

TEST_CASE("a network has no parameters outside its layers and kinds") {
  REQUIRE_FALSE(matrix_of(gru(), 3, 0));
  REQUIRE_FALSE(matrix_of(gru(), -1, 0));
  REQUIRE_FALSE(matrix_of(gru(), 0, 6));  // no projection
  REQUIRE_FALSE(bias_of(gru(), 0, 6));
  REQUIRE_FALSE(matrix_of(projected_lstm(), 0, 9));
  rnn_shape skipping = gru();
  skipping.skip_input = true;
  REQUIRE_FALSE(matrix_of(skipping, 0, 0));
  REQUIRE(matrix_of(skipping, 1, 0));
}

TEST_CASE("the reserve grows with the time steps and holds every layer's gates") {
  const rnn_shape shape = gru();
  // 3 layers × (3 gates + candidate) × 4 units, and 2 layers' outputs of 4.
  REQUIRE(reserve_elements(shape, 1) == 3 * 4 * 4 + 2 * 4);
  REQUIRE(reserve_elements(shape, 10) == 10 * reserve_elements(shape, 1));
  REQUIRE(mask_bytes(shape, 10) == 10 * 2 * 4);
}
