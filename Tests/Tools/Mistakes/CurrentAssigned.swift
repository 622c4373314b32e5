// compiler: error: cannot assign to property: 'current' is a get-only property
// Cure: bind it for an operation: `Container.with(container) { … }`.

import Fugu

func begin(_ container: Container) { Container.current = container }
