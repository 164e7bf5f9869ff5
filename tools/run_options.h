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

namespace CLI {
class App;
}

namespace warpline::tools {

struct RunOptions {
  std::string model = "net";
  int depth = 8;  // vgg
  std::string strategy = "serial";
  int data_parallel = 1, stages = 1, chunks = 1;
  std::optional<int> micro_batches;
  std::string schedule;
  std::string cut;
  std::string device = "cpu";
  std::string backend = "local";
  int threads = 0;  // 0 until resolve() chooses
  std::int64_t batch_size = 64;
  std::uint64_t seed = 1;
  bool deterministic = false;
  std::string send_mode = "bounded";
  std::uint64_t order_seed = 0;
  double timeout = 60.0;
  double message_delay = 0.0;  // seconds
  std::string data = "auto";
  std::optional<std::string> data_dir;
  std::string json, trace;

  int ranks() const { return data_parallel * stages; }

  void add_flags(CLI::App& command);
  // Fills in what was not given and refuses what does not fit together (ValueError). `inference`: no
  // backward, so the schedule is `inference` and a batch is not cut.
  void resolve(const CLI::App& command, bool inference);

  parallel::Layout layout(const Sequential& layers) const;
  parallel::LocalOptions local_options() const;
  std::vector<std::shared_ptr<Context>> contexts() const;
  std::shared_ptr<const Dataset> load_data() const;
  std::string cut_line() const;  // "batch 64 = 2 replicas x 2 micro-batches x 16 images"

 protected:
  void describe(nlohmann::ordered_json& flags) const;  // the flags in force
};

}  // namespace warpline::tools
