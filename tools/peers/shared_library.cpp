#include "tools/peers/shared_library.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "kernels/error.h"

namespace warpline::tools {

SharedLibrary::SharedLibrary(std::string tag, const std::string& file) : tag_(std::move(tag)), file_(file) {
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string why = handle_ == nullptr ? dlerror() : "";
  std::string_view folders = WARPLINE_CUDA_FOLDERS;
  while (handle_ == nullptr && !folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    handle_ = dlopen((std::string(folder) + "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  if (handle_ == nullptr)
    fail<DeviceError>(tag_, "{}; install it, or name its folder in LD_LIBRARY_PATH", why);
}

void* SharedLibrary::address(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr)
    fail<DeviceError>(tag_, "{} has no function {}; install the release that the build found", file_, name);
  return found;
}

}  // namespace warpline::tools
