#include "kernels/table.h"

#include <algorithm>
#include <string>

#include "kernels/call_note.h"

namespace warpline::kernels {
namespace {

[[noreturn]] void fail_to_find(std::string_view op, DeviceKind target, DType dtype) {
  std::vector<std::string_view> dtypes;
  for (const Row& row : table()) {
    if (row.op != op || row.target != target) continue;
    if (row.dtype == dtype) {
      fail<DTypeError>(op,
                       "no {} variant on {} supports these sizes; list a variant without constraint first",
                       to_string(dtype), to_string(target));
    }
    const std::string_view name = to_string(row.dtype);
    if (std::find(dtypes.begin(), dtypes.end(), name) == dtypes.end()) dtypes.push_back(name);
  }
  if (dtypes.empty())
    fail<DTypeError>(op, "there is no such kernel on {}; use another device", to_string(target));
  std::string list;
  for (const std::string_view name : dtypes) list += (list.empty() ? "" : ", ") + std::string(name);
  fail<DTypeError>(op, "there is no {} kernel on {}: there are {}; convert the tensors to one of these",
                   to_string(dtype), to_string(target), list);
}

}  // namespace

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = ref_rows();
    for (const auto& rows_of_target : {cpu_rows(), cuda_rows(), emu_rows(), emu_checked_rows()}) {
      all.insert(all.end(), rows_of_target.begin(), rows_of_target.end());
    }
    return all;
  }();
  return rows;
}

const Row& find(std::string_view op, DeviceKind target, DType dtype, const void* args) {
  const std::vector<Row>& rows = table();
  const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) {
    return row.target == target && row.dtype == dtype && row.op == op &&
           (row.supports == nullptr || row.supports(args));
  });
  if (found == rows.rend()) fail_to_find(op, target, dtype);
  if (notes_wanted()) leave_note({found->op, found->variant, found->flops(args)});
  return *found;
}

}  // namespace warpline::kernels
