#include "parallel/recorder.h"

#include <algorithm>
#include <utility>

#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Recorder::Recorder(int rank, std::shared_ptr<DeviceStream> stream, bool trace)
    : rank_(rank), stream_(std::move(stream)), trace_(trace) {}

void Recorder::begin_run() {
  actions_.clear();
  open_.clear();
  stream_->allocator()->reset_peak();
  live_at_start_ = stream_->allocator()->stats().live_bytes;
}

void Recorder::end_run() { note_peak(); }

void Recorder::before(const Action& action) {
  actions_.push_back(to_token(action));
  if (action.op == Op::Step) note_peak();
  open_.push_back({action, Clock::now(), trace_ ? now_us() : 0});
}

void Recorder::after(const Action& action) {
  const Open open = open_.back();
  open_.pop_back();
  if (is_compute(action.op) || action.op == Op::Step) {
    stream_->synchronize();
    compute_seconds_ += seconds_since(open.start) - open.waited;
    if (trace_) events_.push_back({rank_, "compute", to_token(action), open.start_us, now_us()});
  }
  if (action.op == Op::Step) stream_->allocator()->reset_peak();  // what the optimiser used is no activation
}

void Recorder::waiting() { wait_start_ = Clock::now(); }

void Recorder::waited() {
  const double seconds = seconds_since(wait_start_);
  wait_seconds_ += seconds;
  for (Open& open : open_) open.waited += seconds;
  // What an action waited for at its start is no part of it in the trace.
  if (trace_ && !open_.empty()) open_.back().start_us = now_us();
}

void Recorder::note_peak() {
  peak_bytes_ = std::max(peak_bytes_, stream_->allocator()->stats().peak_live_bytes - live_at_start_);
}

void CallLog::call_done(const Signature& call, std::int64_t start_us, std::int64_t end_us) {
  const std::lock_guard lock(mutex_);
  events_.push_back({rank_, "communication", to_string(call), start_us, end_us});
}

std::vector<TraceEvent> CallLog::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

}  // namespace warpline::parallel
