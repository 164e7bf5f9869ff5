// What the checks found. A report goes to stderr, makes the next synchronisation of its stream fail, and the
// exit status of the program non-zero, whatever the program returns. Modelled on the reports of NVIDIA's
// compute-sanitizer.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

namespace warpline::emu::check {

struct Report {
  std::string check;  // "memcheck", "initcheck", "racecheck", "synccheck", "patience"
  std::string text;   // lines
};

void add(Report report);
// Of what a block found by itself: divergence, shuffles, no progress, no end.
Report report_of(const std::exception& error);
// The first report does this too: what is registered with std::atexit later runs before.
void fail_at_exit();
std::size_t reports();  // so far, captured ones left out

// While it lives, reports come here instead: for tests that plant faults. One at a time.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::vector<Report> take();
};

}  // namespace warpline::emu::check
