// What a rank did, as its executor told: the log of actions, seconds of work and of waiting, peak memory,
// trace events. And what its communicators did meanwhile.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device_stream.h"
#include "parallel/communicator.h"
#include "parallel/observer.h"
#include "parallel/trace.h"

namespace warpline::parallel {

class Recorder final : public Observer {
 public:
  // rank: of the whole run. Times include the work that an action put on `stream`: its end is waited for.
  Recorder(int rank, std::shared_ptr<DeviceStream> stream, bool trace);

  // Around one run of a list. Seconds and peaks add up over runs; actions() is that of the last one.
  void begin_run();
  void end_run();

  void before(const Action& action) override;
  void after(const Action& action) override;
  void waiting() override;
  void waited() override;

  const std::vector<std::string>& actions() const { return actions_; }
  double compute_seconds() const { return compute_seconds_; }  // forward, backward and steps, without waits
  double wait_seconds() const { return wait_seconds_; }
  // Most bytes live within a run, before its optimiser step, beyond those live at its start.
  std::int64_t peak_bytes() const { return peak_bytes_; }
  const std::vector<TraceEvent>& events() const { return events_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Open {  // an action that runs
    Action action;
    Clock::time_point start;
    std::int64_t start_us;
    double waited = 0;
  };
  void note_peak();

  int rank_;
  std::shared_ptr<DeviceStream> stream_;
  bool trace_;
  std::vector<std::string> actions_;
  double compute_seconds_ = 0, wait_seconds_ = 0;
  std::int64_t live_at_start_ = 0, peak_bytes_ = 0;
  std::vector<Open> open_;  // a ReduceGrads may run within a Backward
  Clock::time_point wait_start_;
  std::vector<TraceEvent> events_;
};

// The row "communication" of a rank's trace; one for all its communicators.
class CallLog final : public CallObserver {
 public:
  explicit CallLog(int rank) : rank_(rank) {}
  void call_done(const Signature& call, std::int64_t start_us, std::int64_t end_us) override;
  std::vector<TraceEvent> events() const;

 private:
  int rank_;
  mutable std::mutex mutex_;  // each communicator calls on a thread of its own
  std::vector<TraceEvent> events_;
};

}  // namespace warpline::parallel
