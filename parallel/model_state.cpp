#include "parallel/model_state.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "engine/checks.h"
#include "engine/inplace.h"
#include "engine/optim/optimizer.h"
#include "engine/transfer.h"
#include "kernels/error.h"
#include "parallel/texts.h"

namespace warpline::parallel {
namespace {

// What a rank is about to send: name, dtype, shape.
std::string describe_part(const State& part) {
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& [name, tensor] : part) {
    entries.push_back({name, static_cast<int>(tensor.dtype()), tensor.shape()});
  }
  return entries.dump();
}

void receive_part(Context& context, Communicator& communicator, int rank, const std::string& text,
                  State& whole) {
  for (const nlohmann::json& entry : nlohmann::json::parse(text)) {
    const auto name = entry[0].get<std::string>();
    const Tensor tensor =
        Tensor::empty(context, entry[2].get<Shape>(), static_cast<DType>(entry[1].get<int>()));
    communicator.recv(tensor, rank, context.stream()).wait();
    if (!whole.emplace(name, tensor).second) {
      fail<ValueError>("state", "rank {} holds '{}', and so does another rank", rank, name);
    }
  }
}

}  // namespace

State local_state(Context& context, const std::vector<Parameter*>& parameters, const Optimizer* optimizer) {
  State state;
  for (const Parameter* parameter : parameters) state.emplace(parameter->name, parameter->value.detach());
  if (optimizer == nullptr) return state;
  for (auto& [name, tensor] : optimizer->state(context)) state.emplace(kOptimizerPrefix + name, tensor);
  return state;
}

State gather_state(Context& context, Communicator& communicator, const State& part) {
  const std::vector<std::string> parts = gather_texts(context, communicator, describe_part(part));
  if (communicator.rank() != 0) {
    for (const auto& [name, tensor] : part) communicator.send(tensor, 0, context.stream()).wait();
    return {};
  }
  State whole;
  for (const auto& [name, tensor] : part) whole.emplace(name, copy_to(context, tensor));
  for (int rank = 1; rank < communicator.size(); ++rank) {
    receive_part(context, communicator, rank, parts[static_cast<std::size_t>(rank)], whole);
  }
  return whole;
}

void load_state(Context& context, const std::vector<Parameter*>& parameters, Optimizer* optimizer,
                const State& state) {
  std::vector<std::pair<Tensor, Tensor>> copies;  // parameter, its new value on this device
  for (const Parameter* parameter : parameters) {
    const auto found = state.find(parameter->name);
    if (found == state.end()) {
      fail<ValueError>("state", "'{}' is missing: was the file written for another model?", parameter->name);
    }
    check_dtype("state", {parameter->name, found->second}, parameter->value.dtype());
    check_shape("state", {parameter->name, found->second}, parameter->shape);
    copies.emplace_back(parameter->value, copy_to(context, found->second));
  }
  if (optimizer != nullptr) {
    State own;
    const std::string prefix = kOptimizerPrefix;
    for (const auto& [name, tensor] : state) {
      if (name.starts_with(prefix)) own.emplace(name.substr(prefix.size()), tensor);
    }
    optimizer->load_state(context, own);
  }
  const NoGrad no_grad(context);
  for (auto& [parameter, value] : copies) copy_into(context, parameter, value);
}

}  // namespace warpline::parallel
