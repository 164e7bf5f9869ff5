#include "engine/file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/error.h"

namespace warpline {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int value) { value_ = value; }  // of one that is not valid
  int get() const { return value_; }
  bool valid() const { return value_ >= 0; }
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

// A file that is removed again unless it was renamed to where it belongs.
class Temporary {
 public:
  explicit Temporary(const fs::path& folder) : path_(folder / unique_name()), file_(open(path_)) {
    // A killed process of the same number may have left one.
    while (!file_.valid() && errno == EEXIST) {
      path_ = folder / unique_name();
      file_.reset(open(path_));
    }
    if (!file_.valid()) error_ = errno;
  }
  ~Temporary() {
    if (file_.valid() || closed_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  int error() const { return error_; }
  int descriptor() const { return file_.get(); }
  // False, with errno, where that fails.
  bool sync_and_rename(const fs::path& target) {
    if (::fsync(file_.get()) != 0) return false;
    closed_ = true;
    if (!file_.close() || ::rename(path_.c_str(), target.c_str()) != 0) return false;
    closed_ = false;
    return true;
  }

 private:
  static int open(const fs::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  static std::string unique_name() {
    static std::atomic<unsigned> next{0};
    return fmt::format(".warpline-{}-{}.tmp", ::getpid(), next.fetch_add(1));
  }
  fs::path path_;
  Descriptor file_;
  int error_ = 0;
  bool closed_ = false;  // yet not renamed
};

struct Target {
  fs::path path, folder;
  bool direct = false;         // a device or pipe, which cannot be replaced
  std::optional<mode_t> mode;  // of the file that is replaced
};

Target find_target(const std::string& path) {
  if (path.empty()) fail<FileError>("file", "a path to write is empty");
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail<FileError>("file", "cannot write {}: {}", path, reason(errno));
  if (exists && S_ISDIR(status.st_mode)) fail<FileError>("file", "cannot write {}: it is a folder", path);
  Target target{path, {}, exists && !S_ISREG(status.st_mode), {}};
  if (exists && !target.direct) target.mode = status.st_mode & 07777;
  // Through symbolic links, also to what does not exist yet. stat() has refused endless ones.
  std::error_code error;
  while (!target.direct && fs::is_symlink(fs::symlink_status(target.path, error))) {
    target.path = target.path.parent_path() / fs::read_symlink(target.path, error);
    if (error) fail<FileError>("file", "cannot write {}: {}", path, error.message());
  }
  if (target.path.filename().empty()) fail<FileError>("file", "cannot write {}: it names a folder", path);
  target.folder = target.path.has_parent_path() ? target.path.parent_path() : fs::path(".");
  return target;
}

// False, with errno, where that fails.
bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string check_writable(const std::string& path) {
  const Target target = find_target(path);
  if (target.direct) {
    if (::access(path.c_str(), W_OK) != 0)
      fail<FileError>("file", "cannot write {}: {}", path, reason(errno));
    return "";
  }
  const Temporary probe(target.folder);
  if (probe.error() != 0) {
    fail<FileError>("file", "cannot write {}: no file can be made in {}: {}", path, target.folder.string(),
                    reason(probe.error()));
  }
  return (fs::canonical(target.folder) / target.path.filename()).string();
}

void write_file_whole(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const Target target = find_target(path);
  if (target.direct) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) fail<FileError>("file", "cannot write {}: {}", path, reason(errno));
    for (const auto part : parts) {
      if (!write_all(file.get(), part)) fail<Failure>("file", "writing {} failed: {}", path, reason(errno));
    }
    return;
  }
  Temporary file(target.folder);
  if (file.error() != 0) {
    fail<FileError>("file", "cannot write {}: no file can be made in {}: {}", path, target.folder.string(),
                    reason(file.error()));
  }
  if (target.mode) ::fchmod(file.descriptor(), *target.mode);  // at worst it stays as new files are
  for (const auto part : parts) {
    if (!write_all(file.descriptor(), part)) {
      fail<Failure>("file", "writing {} failed: {}; what was there before is unchanged", path, reason(errno));
    }
  }
  if (!file.sync_and_rename(target.path)) {
    fail<Failure>("file", "writing {} failed: {}; what was there before is unchanged", path, reason(errno));
  }
  // The rename itself reaches the disk with its folder. Some file systems cannot sync one: no loss then.
  const Descriptor folder(::open(target.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) ::fsync(folder.get());
}

void write_file_whole(const std::string& path, std::string_view text) {
  const std::array<std::span<const std::byte>, 1> parts = {std::as_bytes(std::span(text))};
  write_file_whole(path, parts);
}

std::vector<std::byte> read_file_whole(const std::string& path, std::size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    fail<FileError>("file", "cannot read {}: {}", path, reason(errno));
  }
  if (!S_ISREG(status.st_mode)) fail<FileError>("file", "cannot read {}: it is not a regular file", path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) {
    fail<FileError>("file", "{} is too large: {} bytes, at most {} are expected", path, size, max_bytes);
  }
  std::vector<std::byte> bytes(size);
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail<FileError>("file", "cannot read {}: {}", path, reason(errno));
    if (count == 0) fail<FileError>("file", "{} became shorter while it was read", path);
    filled += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace warpline
