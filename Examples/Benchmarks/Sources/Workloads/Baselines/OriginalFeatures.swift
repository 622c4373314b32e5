extension Greeter: OriginalFeature {
    static func load(in container: OriginalContainer) -> Greeter {
        let object = Number(container[Timeout.self])
        return Greeter(number: object.value) { object.value }
    }
}

extension Counter: OriginalFeature {
    static func load(in container: OriginalContainer) -> Number { Number(container[Timeout.self]) }
}

/// The chain of 40 in the manner of the original library.
protocol OriginalLink: Link, OriginalFeature where Next: OriginalFeature {}

extension OriginalLink {
    static func load(in container: OriginalContainer) -> Int { container[Next.self] + 1 }
}

extension Link01: OriginalLink {}
extension Link02: OriginalLink {}
extension Link03: OriginalLink {}
extension Link04: OriginalLink {}
extension Link05: OriginalLink {}
extension Link06: OriginalLink {}
extension Link07: OriginalLink {}
extension Link08: OriginalLink {}
extension Link09: OriginalLink {}
extension Link10: OriginalLink {}
extension Link11: OriginalLink {}
extension Link12: OriginalLink {}
extension Link13: OriginalLink {}
extension Link14: OriginalLink {}
extension Link15: OriginalLink {}
extension Link16: OriginalLink {}
extension Link17: OriginalLink {}
extension Link18: OriginalLink {}
extension Link19: OriginalLink {}
extension Link20: OriginalLink {}
extension Link21: OriginalLink {}
extension Link22: OriginalLink {}
extension Link23: OriginalLink {}
extension Link24: OriginalLink {}
extension Link25: OriginalLink {}
extension Link26: OriginalLink {}
extension Link27: OriginalLink {}
extension Link28: OriginalLink {}
extension Link29: OriginalLink {}
extension Link30: OriginalLink {}
extension Link31: OriginalLink {}
extension Link32: OriginalLink {}
extension Link33: OriginalLink {}
extension Link34: OriginalLink {}
extension Link35: OriginalLink {}
extension Link36: OriginalLink {}
extension Link37: OriginalLink {}
extension Link38: OriginalLink {}
extension Link39: OriginalLink {}

extension Link40: OriginalFeature {
    static func load(in container: OriginalContainer) -> Int { container[Timeout.self] }
}
