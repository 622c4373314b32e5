#pragma once
#include <stdbool.h>
#include <stdint.h>

// What a step of a thread reads and writes. The compiler's instrumentation for the thread sanitizer calls functions that this
// target has in place of the sanitizer; `Scheduler` says when a step begins and who makes it.

/// The memory that one step read and wrote.
typedef struct Footprint Footprint;

/// Allocations come from the memory of this fiber from now on, at addresses that depend on what it allocated before alone, and
/// accesses are recorded if `records` says so, except for those of the thread's own stack.
void footprints_resume(uint32_t fiber, bool records);

/// Allocations are the platform's from now on, and nothing is recorded.
void footprints_pause(void);

/// Returns whether it was running, and pauses.
bool footprints_hide(void);
/// Goes on where `footprints_hide` paused.
void footprints_show(bool was_running);

/// The step uses what the language's runtime keeps.
void footprints_use_runtime(void);
/// The step is in conflict with every other.
void footprints_use_everything(void);

/// Ends a step: returns what it did. The caller frees it.
Footprint *footprints_take(void);

/// Forgets the memory of all fibers; what is still allocated stays where it is.
void footprints_end_run(void);

/// Returns whether two steps can't change places, because one writes what the other uses.
bool footprint_conflicts(const Footprint *one, const Footprint *other);

void footprint_free(Footprint *footprint);
