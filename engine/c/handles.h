// What the handles of weft.h point to, and the one way in which its functions turn exceptions into
// status codes.
#pragma once

#include "runtime/uncancelled.h"

#include <weft.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/npy.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

struct weft_engine {
  weft::Engine engine;
};

struct weft_tensor {
  weft::Tensor tensor;
};

struct weft_plan {
  weft::PreparedPlan plan;
};

namespace weft::c {

/// Keeps the message of the exception that is being handled, and says its status.
weft_status status_of_exception() noexcept;

/// Runs `function`, which has nothing where a thread may be cancelled; what it throws doesn't get
/// out.  To keep a cancellation off takes longer than a small plan.
template <class Function>
weft_status guard_run(const Function& function) noexcept {
  try {
    function();
    return WEFT_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// The same of any function.
template <class Function>
weft_status guard(const Function& function) noexcept {
  const Uncancelled scope;
  return guard_run(function);
}

/// Ends what a handle stands for, which may run what the caller gave to release memory.
template <class Handle>
void destroy(Handle* handle) noexcept {
  const Uncancelled scope;
  delete handle;
}

/// The value of `function`, or `failed` where it throws.
template <class Value, class Function>
Value guard_value(Value failed, const Function& function) noexcept {
  Value value = failed;
  return guard([&] { value = function(); }) == WEFT_OK ? value : failed;
}

/// `*pointer`.   Errors: ArgumentError that names what was null.
template <class T>
T& given(T* pointer, std::string_view what) {
  WEFT_CHECK(pointer != nullptr, ArgumentError, "expected ", what, ", got a null pointer");
  return *pointer;
}

inline const char* text_at(const char* text, std::string_view what) { return &given(text, what); }

/// An array that may be null where it is empty.   Errors: ArgumentError.
template <class T, class Count>
std::span<T> array(T* first, Count count, std::string_view what) {
  if constexpr (std::is_signed_v<Count>)
    WEFT_CHECK(count >= 0, ArgumentError, "expected a number of ", what, ", got ", count);
  WEFT_CHECK(count == 0 || first != nullptr, ArgumentError, "expected ", count, " ", what,
             ", got a null pointer");
  return {first, static_cast<std::size_t>(count)};
}

/// Named tensors, which are read and not kept.
inline std::vector<NamedTensor> read_names(size_t num_names, const weft_named_tensor* names) {
  std::vector<NamedTensor> result;
  for (const weft_named_tensor& named : array(names, num_names, "named tensors")) {
    const std::string_view text = text_at(named.name, "the name of a tensor");
    WEFT_CHECK(named.tensor != nullptr, ArgumentError, "expected a tensor for the name '", text,
               "', got a null pointer");
    result.emplace_back(text, named.tensor->tensor);
  }
  return result;
}

inline const Tensor& tensor_of(const weft_tensor* handle) {
  return given(handle, "a tensor").tensor;
}

inline Engine& engine_of(weft_engine* handle) { return given(handle, "an engine").engine; }

inline weft_tensor* new_handle(Tensor tensor) { return new weft_tensor{std::move(tensor)}; }

}  // namespace weft::c
