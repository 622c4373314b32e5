extension Container {
    /// Runs code that belongs to no load, whoever calls it, and in which no container is bound.
    package static func inNobodysLoad<R>(_ body: () throws -> R) rethrows -> R { try Context.run(.ended, nil, body) }
}
