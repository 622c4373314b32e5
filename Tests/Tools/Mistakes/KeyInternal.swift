// compiler: error: 'internalLimit' is inaccessible due to 'internal' protection level
// Cure: declare the key `public` in its module, or import the module `@testable` in its tests.

import Fugu
import KeyLibrary

func read(_ container: Container) -> Int { container.internalLimit }
