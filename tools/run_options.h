// The flags that `train` and `infer` share: how a run is cut, on what it runs, and how its ranks talk.
// Checked as a whole before any work starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/context.h"
#include "engine/nn/module.h"
#include "kernels/device.h"
#include "models/dataset.h"
#include "parallel/local.h"
#include "parallel/worker.h"
#include "tools/command.h"

namespace warpline::tools {

struct RunOptions {
  std::string model = "net";
  int depth = 8;  // vgg
  std::string strategy = "serial";
  int data_parallel = 1, stages = 1;
  std::string cut;
  std::string device = "cpu";
  bool check = false;
  std::string backend = "local";
  int threads = 0;  // 0 until resolve() chooses
  std::int64_t batch_size = 64;
  std::uint64_t seed = 1;
  std::string send_mode = "bounded";
  std::uint64_t order_seed = 0;
  double timeout = 60.0;
  double message_delay = 0.0;  // seconds
  std::string data = "auto";
  std::optional<std::string> data_dir;
  std::string json, trace;

  int ranks() const { return data_parallel * stages; }

  // All but --batch-size and --seed, which mean something else to each command.
  void add_flags(Command command);
  // Fills in what was not given and refuses what does not fit together (ValueError).
  void resolve(Command command);

  // One micro-batch for each replica.
  parallel::Layout layout(const Sequential& layers) const;
  parallel::LocalOptions local_options() const;
  std::vector<std::shared_ptr<Context>> contexts() const;
  std::shared_ptr<const Dataset> load_data() const;

 protected:
  // Refuses a flag that was given where the strategy has no stages, rather than ignoring it (ValueError).
  void require_stages(Command command, const char* flag) const;
  void describe(nlohmann::ordered_json& flags) const;  // the flags in force
};

}  // namespace warpline::tools
