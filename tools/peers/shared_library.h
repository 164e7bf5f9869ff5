// A library that is loaded while the program runs; its functions have the types that its header gives them.
#pragma once

#include <string>

namespace warpline::tools {

class SharedLibrary {
 public:
  // tag: of errors. file: "libcublas.so.13", looked for where the loader looks, then in the folders of the
  // CUDA Toolkit that the build found. DeviceError where it is not. It stays until the program ends.
  SharedLibrary(std::string tag, const std::string& file);

  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;  // DeviceError where it has none

  std::string tag_, file_;
  void* handle_ = nullptr;
};

}  // namespace warpline::tools

// Headers may give a function's name another one's: cublasCreate is cublasCreate_v2.
#define WARPLINE_TEXT(name) WARPLINE_TEXT_OF(name)
#define WARPLINE_TEXT_OF(name) #name
#define WARPLINE_LOAD(library, name) (library).function<decltype(name)>(WARPLINE_TEXT(name))
