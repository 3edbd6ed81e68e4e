// The places where weft calls what can fail: found in this program's own code, so that none can be
// forgotten, and marked as they are called and made to fail.
//
// A site is one call instruction of weft's code whose target is a function that the linker has put
// in front of another (--wrap).  Calls of operator new are no sites: containers grow in thousands
// of places, and what counts for them is that the n-th allocation of each scenario fails, for all
// n.
#pragma once

#include "tests/faults/inject.h"

#include <string>
#include <vector>

namespace weft::faults {

struct Site {
  std::string function;  ///< that is called: "open"
  std::string place;     ///< that calls: "weft::InputFile::map() const+0x2a (0x41c2a)"
  bool is_called = false;
  bool has_failed = false;
};

/// Why sites can't be told in this program; empty if they can.
std::string sites_unknown_reason();
/// All of them, with what has been noted by now, in this process and in those it has started.
std::vector<Site> all_sites();

/// Finds the sites; before the first call that is noted.
void prepare_sites();
/// Whether a call of a function that stands in front of another is to fail, which is noted.  What
/// the tests call does not.  `front` is the function's symbol.
bool call_fails(Kind kind, const char* front, const void* return_address) noexcept;

/// A file descriptor that a process started by this one must inherit, so that what it notes counts
/// here; and its use over there.
int marks_file();
void share_marks(int file);

}  // namespace weft::faults
