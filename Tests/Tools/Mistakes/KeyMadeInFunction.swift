// program: Fugu: two keys with different defaults are made at one place, Mistake/KeyMadeInFunction.swift:6, so both are PropertyKey<Int> (Mistake/KeyMadeInFunction.swift:6) with the default of the first. A function that makes keys must pass on the fileID, line, and column of its caller, or give each key an id: PropertyKey(defaultValue: …, id: …).
// Cure: pass on the place of the caller, or give each key an `id`.

import Fugu

func limit(_ value: Int) -> PropertyKey<Int> { PropertyKey(defaultValue: value) }

let container = Container()
print(container[limit(3)], container[limit(5)])
