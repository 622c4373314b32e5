#ifndef FUGU_TESTING_START_H
#define FUGU_TESTING_START_H

/// Tells the core that FuguTesting is part of this process. It runs by itself when the program or library that
/// contains it is loaded, before the code of any test; calling it again has no effect.
void fugu_testing_start(void);

/// Returns the path of the file that the code or data at an address was loaded from, or a null pointer if that isn't known.
const char *fugu_testing_file(const void *address);

#endif
