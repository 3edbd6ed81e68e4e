// Stopping long calls from outside.
#pragma once

#include <weft/error.h>

#include <atomic>
#include <memory>

namespace [[gnu::visibility("default")]] weft {

/// A call was stopped by its token.
class CancelledError : public Error {
 public:
  using Error::Error;
  std::string_view kind() const noexcept override { return "cancelled"; }
};

/// A request to stop, shared by all copies of the token.
///
/// Threads: all functions may be called by many threads at once.
class CancellationToken {
 public:
  CancellationToken() : is_cancelled_(std::make_shared<std::atomic<bool>>(false)) {}
  // What is moved is copied: no token is ever without a request.
  CancellationToken(const CancellationToken&) = default;
  CancellationToken& operator=(const CancellationToken&) = default;

  /// Not to be taken back.
  void cancel() noexcept { is_cancelled_->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept { return is_cancelled_->load(std::memory_order_relaxed); }
  /// Errors: CancelledError if somebody cancelled.
  void throw_if_cancelled() const;

 private:
  std::shared_ptr<std::atomic<bool>> is_cancelled_;
};

/// While it lives, what this thread computes can be stopped:
///
///     CancellationToken token;             // another thread calls token.cancel()
///     const CancellationScope scope(token);
///     engine.eval(expr, out);              // throws CancelledError
///
/// Calls of an Engine, loops over iterators and parallel_for() look at the token before each part
/// of some milliseconds, on all threads that work for them; reductions and scans of the CPU do so
/// within one result or row, too.  Shorter calls, compilations, and parts that have begun run to
/// their end.  Results do not depend on a scope being there.
///
/// An output of a call that was stopped is written in part.  Engine, plans and threads go on as
/// ever. Scopes nest; only the innermost is asked.
///
/// Threads: belongs to the thread that made it.
/// Errors:  the calls throw CancelledError.
class CancellationScope {
 public:
  explicit CancellationScope(CancellationToken token);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

  /// The innermost scope's token; null if this thread is in none.
  static const CancellationToken* current() noexcept;

 private:
  CancellationToken token_;
  const CancellationScope* outer_;
};

}  // namespace weft
