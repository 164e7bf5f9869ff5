#include "parallel/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernels/error.h"
#include "parallel/tokens.h"

namespace warpline::parallel {
namespace {

constexpr int kMostPanels = 6;  // a longer picture shrinks to one panel
constexpr char kIdle = '.';
constexpr std::string_view kLetters = "FIWB";  // by Op

char letter(Op op) { return kLetters[static_cast<std::size_t>(op)]; }

// A rank's row: what is written in each column, and the letter of the action that owns it.
struct Row {
  std::string text, owner;
};

// Columns per unit of time, and how the row is cut into panels.
struct Scale {
  double columns_per_time = 1;
  int total = 0, panel = 0;
  bool blended = false;  // several actions may share a column
  int column(double time) const { return static_cast<int>(std::lround(time * columns_per_time)); }
};

class Picture {
 public:
  Picture(const Plan& plan, const Timeline& timeline, const DrawOptions& options)
      : plan_(plan), timeline_(timeline), options_(options) {
    const std::string last = fmt::format("rank {}", plan.ranks - 1);
    name_width_ = static_cast<int>(last.size());
    const int area = options.columns - name_width_ - 3;  // "rank 0 |" and "|"
    constexpr int kNarrowest = 20;
    if (area < kNarrowest) fail<ValueError>("draw", "{} columns are too few to draw in", options.columns);
    scale_ = choose_scale(area);
  }

  std::string draw() const {
    std::vector<Row> rows;
    for (std::size_t r = 0; r < plan_.per_rank.size(); ++r) {
      rows.push_back(scale_.blended ? blend(r) : paint(r));
    }
    std::string text;
    for (int begin = 0; begin < scale_.total; begin += scale_.panel) {
      const int width = std::min(scale_.panel, scale_.total - begin);
      if (begin > 0) text += '\n';
      for (std::size_t r = 0; r < rows.size(); ++r) {
        text +=
            fmt::format("{:<{}} |{}|\n", fmt::format("rank {}", r), name_width_, cut(rows[r], begin, width));
      }
      text += axis(begin, width);
    }
    return text;
  }

 private:
  // "F3", or "4F3" where a rank holds several stages.
  std::string label(const Action& action) const {
    if (plan_.chunks > 1) return to_token(action);
    return fmt::format("{}{}", letter(action.op), action.micro);
  }

  template <class F>
  void each_compute(std::size_t rank, F visit) const {
    const std::vector<Action>& actions = plan_.per_rank[rank];
    for (std::size_t p = 0; p < actions.size(); ++p) {
      if (is_compute(actions[p].op)) visit(actions[p], timeline_.per_rank[rank][p]);
    }
  }

  // Wide enough for the label of the shortest action and a blank; without the blank where that saves a second
  // panel; one column for many actions where there would be too many panels.
  Scale choose_scale(int area) const {
    double shortest = timeline_.makespan;
    std::size_t longest_label = 1;
    for (std::size_t r = 0; r < plan_.per_rank.size(); ++r) {
      each_compute(r, [&](const Action& action, const Span& span) {
        if (span.end > span.start) shortest = std::min(shortest, span.end - span.start);
        longest_label = std::max(longest_label, label(action).size());
      });
    }
    const int label_width = static_cast<int>(longest_label);
    const bool tight = timeline_.makespan / shortest * (label_width + 1) > area &&
                       timeline_.makespan / shortest * label_width <= area;
    const int cell = tight ? label_width : label_width + 1;
    Scale scale;
    scale.columns_per_time = cell / shortest;
    scale.panel = std::max(1, area / cell) * cell;
    if (timeline_.makespan * scale.columns_per_time > static_cast<double>(kMostPanels) * scale.panel) {
      scale.columns_per_time = area / timeline_.makespan;
      scale.panel = area;
      scale.blended = shortest * scale.columns_per_time < 1;
    }
    scale.total = std::max(1, scale.column(timeline_.makespan));
    return scale;
  }

  Row blank() const {
    const auto width = static_cast<std::size_t>(scale_.total);
    return {.text = std::string(width, kIdle), .owner = std::string(width, kIdle)};
  }

  // Every action from its first to its last column: label, dashes, and a blank at the end.
  Row paint(std::size_t rank) const {
    Row row = blank();
    each_compute(rank, [&](const Action& action, const Span& span) {
      const auto begin = static_cast<std::size_t>(scale_.column(span.start));
      const auto width = static_cast<std::size_t>(scale_.column(span.end)) - begin;
      if (width == 0) return;
      std::string word = label(action);
      if (word.size() > width) word = std::string(1, letter(action.op));
      const bool room = width > word.size();
      word.resize(width, '-');
      if (room) word.back() = ' ';
      row.text.replace(begin, width, word);
      row.owner.replace(begin, width, std::string(width, letter(action.op)));
    });
    return row;
  }

  // Each column shows the letter of what took most of its time.
  Row blend(std::size_t rank) const {
    Row row = blank();
    std::vector<std::array<double, kLetters.size()>> busy(row.text.size());
    each_compute(rank, [&](const Action& action, const Span& span) {
      const double begin = span.start * scale_.columns_per_time, end = span.end * scale_.columns_per_time;
      for (auto c = static_cast<std::size_t>(begin); c < busy.size() && static_cast<double>(c) < end; ++c) {
        const auto left = static_cast<double>(c);
        busy[c][static_cast<std::size_t>(action.op)] += std::min(end, left + 1) - std::max(begin, left);
      }
    });
    for (std::size_t c = 0; c < busy.size(); ++c) {
      const auto most =
          static_cast<std::size_t>(std::max_element(busy[c].begin(), busy[c].end()) - busy[c].begin());
      double idle = 1;
      for (const double share : busy[c]) idle -= share;
      if (busy[c][most] > idle) row.text[c] = row.owner[c] = kLetters[most];
    }
    return row;
  }

  std::string cut(const Row& row, int begin, int width) const {
    std::string text = row.text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(width));
    if (!options_.colour) return text;
    std::string coloured;
    char current = kIdle;
    for (std::size_t c = 0; c < text.size(); ++c) {
      const char owner = row.owner[static_cast<std::size_t>(begin) + c];
      if (owner != current) coloured += colour_of(owner);
      current = owner;
      coloured += text[c];
    }
    return current == kIdle ? coloured : coloured + colour_of(kIdle);
  }

  static std::string colour_of(char owner) {
    if (owner == 'F') return "\x1b[34m";
    if (owner == 'W') return "\x1b[33m";
    return owner == kIdle ? "\x1b[0m" : "\x1b[32m";
  }

  // Round times, far enough apart to be read.
  std::string axis(int begin, int width) const {
    constexpr double kApart = 9;
    double step = 1;
    while (step * scale_.columns_per_time > 10 * kApart) step /= 10;
    while (step * scale_.columns_per_time < kApart) step *= 10;
    for (const double part : {5.0, 2.0}) {
      if (step / part * scale_.columns_per_time >= kApart) {
        step /= part;
        break;
      }
    }
    std::string line;
    for (double k = std::floor(begin / scale_.columns_per_time / step);; ++k) {
      const int column = scale_.column(k * step) - begin;
      const std::string number = fmt::format("{:g}", k * step);
      if (column + static_cast<int>(number.size()) > width) break;
      if (column < 0) continue;
      line.resize(static_cast<std::size_t>(column), ' ');
      line += number;
    }
    return fmt::format("{:<{}}  {}\n", "time", name_width_, line);
  }

  const Plan& plan_;
  const Timeline& timeline_;
  const DrawOptions options_;
  int name_width_ = 0;
  Scale scale_;
};

}  // namespace

std::string draw(const Plan& plan, const Timeline& timeline, const DrawOptions& options) {
  return Picture(plan, timeline, options).draw();
}

std::string timeline_csv(const Plan& plan, const Timeline& timeline) {
  std::string text = "rank,position,action,start,end\n";
  for (std::size_t r = 0; r < plan.per_rank.size(); ++r) {
    for (std::size_t p = 0; p < plan.per_rank[r].size(); ++p) {
      const Span& span = timeline.per_rank[r][p];
      text += fmt::format("{},{},{},{},{}\n", r, p, to_token(plan.per_rank[r][p]), span.start, span.end);
    }
  }
  return text;
}

}  // namespace warpline::parallel
