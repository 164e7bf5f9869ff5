// `warpline op`: one op on tensors from a file, so that any op can be compared with another framework in
// three lines.
#include <algorithm>

#include <fmt/format.h>

#include "engine/autograd.h"
#include "engine/file.h"
#include "engine/safetensors.h"
#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/device_choice.h"
#include "tools/op_table.h"

namespace warpline::tools {
namespace {

constexpr const char* kGradOutput = "grad_output";

struct OpOptions {
  std::string name, in, out, device = "cpu";
  bool check = false;
  std::vector<std::string> attributes;
  bool list = false;
};

void list_ops() {
  for (const OpRow& row : op_table()) {
    std::vector<std::string> inputs;
    for (const OpInput& input : row.inputs)
      inputs.push_back(input.required ? std::string(input.name) : fmt::format("[{}]", input.name));
    fmt::print("{}({}){}{}\n", row.name, fmt::join(inputs, ", "), row.attributes.empty() ? "" : "; ",
               row.attributes);
  }
}

const OpRow& find_op(const std::string& name) {
  std::vector<std::string_view> names;
  for (const OpRow& row : op_table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  fail<ValueError>("op", "no op is called '{}'; there are {}", name, fmt::join(names, ", "));
}

// Takes the op's inputs out of the file; what is left over is refused, so that a misspelt name is not
// ignored.
Tensors take_inputs(Context& context, const OpRow& row, const std::string& path, Tensor& grad_output) {
  Tensors file;
  for (const HostTensor& tensor : read_safetensors(path).tensors) {
    file.emplace(tensor.name, to_tensor(context, tensor));
  }
  Tensors inputs;
  for (const OpInput& input : row.inputs) {
    auto node = file.extract(std::string(input.name));
    if (node.empty()) {
      if (input.required)
        fail<ValueError>(row.name, "{} holds no tensor '{}', which the op needs", path, input.name);
      continue;
    }
    const DType dtype = node.mapped().dtype();
    if (input.differentiable && (dtype == DType::Float32 || dtype == DType::Float64)) {
      node.mapped().set_requires_grad();
    }
    inputs.insert(std::move(node));
  }
  if (auto node = file.extract(kGradOutput); !node.empty()) grad_output = node.mapped();
  if (!file.empty()) {
    fail<ValueError>(row.name, "{} holds a tensor '{}', which the op does not take; see warpline op --list",
                     path, file.begin()->first);
  }
  return inputs;
}

void run_op(const OpOptions& options) {
  const OpRow& row = find_op(options.name);
  check_writable(options.out);
  Attributes attributes(options.name, options.attributes);
  Context context(choose_device(options.device, options.check));
  Tensor grad_output;
  Tensors inputs = take_inputs(context, row, options.in, grad_output);
  Tensors outputs = row.call(context, inputs, attributes);
  attributes.check_all_read();

  SafetensorsFile file;
  for (const auto& [name, tensor] : outputs) file.tensors.push_back(to_host_tensor(name, tensor));
  if (grad_output.defined()) {
    backward(context, {outputs.at("output")}, {grad_output});
    for (const OpInput& input : row.inputs) {
      const auto found = inputs.find(std::string(input.name));
      if (found == inputs.end() || !found->second.defined() || !found->second.grad().defined()) continue;
      file.tensors.push_back(to_host_tensor(fmt::format("grad_{}", input.name), found->second.grad()));
    }
  }
  write_safetensors(options.out, file);
}

}  // namespace

void add_op(Command program) {
  const Command command = program.add_command("op", "run one op on tensors from a file, and its gradients");
  const auto options = std::make_shared<OpOptions>();
  const Flag name = command.add_option("name", options->name, "which op; see --list");
  const Flag in =
      command.add_option("in", options->in, "safetensors file: inputs by parameter name, and grad_output");
  const Flag out = command.add_option("out", options->out, "safetensors file to write: output, grad_<name>");
  command.add_option("--attr", options->attributes,
                     "KEY=VALUE, as often as needed: stride=2,3 padding=same dim=0,1");
  command.add_option("--device", options->device, "cpu, ref, cuda or emu; float64 works on all but cpu");
  command.add_flag("--check", options->check,
                   "emu: check every memory access; also WARPLINE_CHECK=1 in the environment");
  command.add_flag("--list", options->list, "print all ops with their inputs and attributes");
  command.on_run([=] {
    if (options->list) return list_ops();
    if (!name.given() || !in.given() || !out.given()) {
      fail<ValueError>(
          "op", "needs a name and two files: warpline op conv2d in.safetensors out.safetensors; or --list");
    }
    run_op(*options);
  });
}

}  // namespace warpline::tools
