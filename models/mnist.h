// MNIST: 28 x 28 grey digits in four IDX files of one folder, each plain or with .gz behind its name
// (http://yann.lecun.com/exdb/mnist/). The sets may be smaller than the published ones.
#pragma once

#include <filesystem>

#include "models/dataset.h"

namespace warpline {

// Are all four files there? Says nothing about what is in them.
bool holds_mnist(const std::filesystem::path& folder);

// Throws FileError: a folder or file that is missing, an IDX file that does not hold (models/idx.h), labels
// outside 0..9, other numbers of images and labels, an empty set. A file that is there plain and packed is
// read plain.
Dataset load_mnist(const std::filesystem::path& folder);

}  // namespace warpline
