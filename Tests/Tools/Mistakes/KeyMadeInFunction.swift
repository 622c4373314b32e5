// program: Fugu: limit(_:) makes a key without an id at Mistake/KeyMadeInFunction.swift:6, so it would be one key for all arguments.
// Cure: give each key an `id`, or pass on the member and the place of the caller.

import Fugu

func limit(_ value: Int) -> PropertyKey<Int> { PropertyKey(defaultValue: value) }

let container = Container()
print(container[limit(3)], container[limit(5)])
