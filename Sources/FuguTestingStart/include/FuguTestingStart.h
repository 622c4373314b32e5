#ifndef FUGU_TESTING_START_H
#define FUGU_TESTING_START_H

/// Tells the core that FuguTesting is part of this process. It runs by itself when the program or library that
/// contains it is loaded, before the code of any test; calling it again has no effect.
void fugu_testing_start(void);

#endif
