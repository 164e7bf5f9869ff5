// Progress of long work on standard error: a bar that redraws on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace warpline::tools {

class Progress {
 public:
  // label: "epoch 1/3"; total: steps; unit: what images_per_step counts ("images", "batches").
  Progress(std::string label, std::int64_t total, std::int64_t per_step, std::string unit);
  ~Progress();  // ends the bar's line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` steps are complete. status: "loss 0.1234", or empty.
  void update(std::int64_t done, const std::string& status);

 private:
  std::string line(std::int64_t done, const std::string& status) const;

  std::string label_, unit_;
  std::int64_t total_, per_step_;
  bool terminal_;
  bool drawn_ = false;
  int lines_ = 0;  // printed so far, where there is no terminal: about ten in all
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

std::string format_duration(double seconds);  // "1:07", "2:03:10"

}  // namespace warpline::tools
