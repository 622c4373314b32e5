// compiler: error: 'unimplemented' is unavailable: the closure can't throw; say what a call returns: unimplemented(…, placeholder: …)
// Cure: give the value that the call returns: `unimplemented("Audio.volume", placeholder: 0)`.

import Fugu

struct Audio: Sendable {
    var volume: @Sendable () -> Double
}

let audio = Audio(volume: unimplemented("Audio.volume"))
