#include "models/dataset.h"

#include <utility>

#include "kernels/error.h"

namespace warpline {

namespace {

constexpr std::size_t kMutexes = 64;

}  // namespace

Samples::Samples(std::vector<std::uint8_t> images, std::vector<std::uint8_t> labels, std::int64_t image_bytes)
    : image_bytes_(image_bytes), labels_(std::move(labels)), read_(std::move(images)) {
  if (static_cast<std::int64_t>(read_.size()) != count() * image_bytes_) {
    fail<ShapeError>("dataset", "{} labels need {} bytes of images, {} each: there are {}", count(),
                     count() * image_bytes_, image_bytes_, read_.size());
  }
}

Samples::Samples(Draw draw, std::vector<std::uint8_t> labels, std::int64_t image_bytes)
    : draw_(std::move(draw)),
      image_bytes_(image_bytes),
      labels_(std::move(labels)),
      drawn_(std::make_unique_for_overwrite<std::uint8_t[]>(labels_.size() *
                                                            static_cast<std::size_t>(image_bytes))),
      is_drawn_(std::make_unique<std::atomic<bool>[]>(labels_.size())),
      drawing_(std::make_unique<std::mutex[]>(kMutexes)) {}

std::span<const std::uint8_t> Samples::image(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  const auto bytes = static_cast<std::size_t>(image_bytes_);
  if (!draw_) return std::span(read_).subspan(i * bytes, bytes);
  const std::span image(drawn_.get() + i * bytes, bytes);
  if (!is_drawn_[i].load(std::memory_order_acquire)) {
    // No call_once: ThreadSanitizer's hangs after a function that threw.
    const std::scoped_lock lock(drawing_[i % kMutexes]);
    if (!is_drawn_[i].load(std::memory_order_relaxed)) {
      draw_(index, image);
      is_drawn_[i].store(true, std::memory_order_release);
    }
  }
  return image;
}

}  // namespace warpline
