#include "tools/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace warpline::tools {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int kBarWidth = 24;
constexpr int kPlainLines = 10;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// A line that cannot be written ends no run.
void write(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

Progress::Progress(std::string label, std::int64_t total, std::int64_t per_step, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      per_step_(per_step),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && drawn_) std::fputc('\n', stderr);
}

std::string Progress::line(std::int64_t done, const std::string& status) const {
  const double elapsed = seconds_since(began_);
  const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0.0;
  std::string text = fmt::format("{}  {}/{}", label_, done, total_);
  if (!status.empty()) text += "  " + status;
  text += fmt::format("  {:.0f} {}/s", rate * static_cast<double>(per_step_), unit_);
  if (done < total_ && rate > 0) {
    text += fmt::format("  {} left", format_duration(static_cast<double>(total_ - done) / rate));
  }
  return text;
}

void Progress::update(std::int64_t done, const std::string& status) {
  const bool last = done >= total_;
  if (terminal_) {
    if (!last && seconds_since(last_) < 0.1) return;
    const auto filled = static_cast<std::size_t>(kBarWidth * done / std::max<std::int64_t>(1, total_));
    // \033[K clears what a longer line left behind.
    write(fmt::format("\r[{}{}] {}\033[K", std::string(filled, '='), std::string(kBarWidth - filled, ' '),
                      line(done, status)));
    drawn_ = true;
  } else {
    const auto due = static_cast<int>(kPlainLines * done / std::max<std::int64_t>(1, total_));
    if (due <= lines_) return;
    lines_ = due;
    write(line(done, status) + "\n");
  }
  last_ = Clock::now();
}

}  // namespace warpline::tools
