// Stands where a profiler would: NVTX loads it by NVTX_INJECTION64_PATH. It prints each range as it opens,
// two blanks further in for each one around it.
#include <cstdio>

#include <nvtx3/nvToolsExt.h>

namespace {

thread_local int depth = 0;

int push(const char* name) {
  std::fprintf(stderr, "range %*s%s\n", 2 * depth, "", name);
  return depth++;
}

int pop() { return --depth; }

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
