// What a model is trained on: images as bytes with their labels, for training and for test. A data set is
// made once a process and shared, read-only, by all ranks that are threads of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/shape.h"

namespace warpline {

// A list of images and labels. Drawn images come to life on first use (safe from any number of threads), so
// that a run of ten steps need not wait for sixty thousand drawings.
class Samples {
 public:
  // Writes image `index` into `image`; must depend on the index only.
  using Draw = std::function<void(std::int64_t index, std::span<std::uint8_t> image)>;

  // Images that are there. Throws ShapeError unless images.size() is labels.size() x image_bytes.
  Samples(std::vector<std::uint8_t> images, std::vector<std::uint8_t> labels, std::int64_t image_bytes);
  Samples(Draw draw, std::vector<std::uint8_t> labels, std::int64_t image_bytes);

  std::int64_t count() const { return static_cast<std::int64_t>(labels_.size()); }
  std::int64_t image_bytes() const { return image_bytes_; }
  std::uint8_t label(std::int64_t index) const { return labels_[static_cast<std::size_t>(index)]; }
  std::span<const std::uint8_t> image(std::int64_t index) const;

 private:
  Draw draw_;  // empty: all images are there
  std::int64_t image_bytes_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint8_t> read_;
  std::unique_ptr<std::uint8_t[]> drawn_;
  std::unique_ptr<std::atomic<bool>[]> is_drawn_;
  std::unique_ptr<std::mutex[]> drawing_;  // image i is drawn under the mutex i modulo their number
};

struct Dataset {
  std::string name;            // "mnist" or "builtin"
  Shape sample_shape;          // channels, height, width: [1, 28, 28]
  int classes = 10;            // labels are 0 .. classes - 1
  std::vector<float> mean;     // by channel, of pixels / 255
  std::vector<float> std_dev;  // by channel
  Samples train;
  Samples test;
};

}  // namespace warpline
