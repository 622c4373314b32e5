// program: Fugu: Randomness.constant(0) was drawn 16 million times at a stretch, because the standard library rejects a number that would bias the result, and draws again.
// Cure: use `.constant(1)` or `.linearCongruential(withSeed:)`.

import Fugu

let container = Container()
container.randomness = .constant(0)
print(container.randomness { Int.random(in: 1...6, using: &$0) })
