// program: Fugu: Randomness.constant(0) was drawn 16 million times at a stretch: the standard library refuses this number, since it would bias the result, and draws again forever. Use .constant(1), which draws the lower bound of a range, or .linearCongruential(withSeed:).
// Cure: use `.constant(1)` or `.linearCongruential(withSeed:)`.

import Fugu

let container = Container()
container.randomness = .constant(0)
print(container.randomness { Int.random(in: 1...6, using: &$0) })
