// program: Fugu: Audio.volume was called, but it isn't implemented.
// Cure: give the double a closure for it.

import Fugu

struct Audio: Sendable {
    var volume: @Sendable () -> Double = unimplemented("Audio.volume", placeholder: 0)
}

print(Audio().volume())
