import Fugu

/// A link in a chain of features, each of which needs the next.
protocol Link: Feature where Instance == Int {
    associatedtype Next: Feature where Next.Instance == Int
}

extension Link {
    static func load(in container: any FeatureContainer) -> Int { container[Next.self] + 1 }
}

/// Chains of 40 features in Fugu and in the original library.
enum Chain {
    typealias First = Link01
    static let length = 40
}

enum Link01: Link { typealias Next = Link02 }
enum Link02: Link { typealias Next = Link03 }
enum Link03: Link { typealias Next = Link04 }
enum Link04: Link { typealias Next = Link05 }
enum Link05: Link { typealias Next = Link06 }
enum Link06: Link { typealias Next = Link07 }
enum Link07: Link { typealias Next = Link08 }
enum Link08: Link { typealias Next = Link09 }
enum Link09: Link { typealias Next = Link10 }
enum Link10: Link { typealias Next = Link11 }
enum Link11: Link { typealias Next = Link12 }
enum Link12: Link { typealias Next = Link13 }
enum Link13: Link { typealias Next = Link14 }
enum Link14: Link { typealias Next = Link15 }
enum Link15: Link { typealias Next = Link16 }
enum Link16: Link { typealias Next = Link17 }
enum Link17: Link { typealias Next = Link18 }
enum Link18: Link { typealias Next = Link19 }
enum Link19: Link { typealias Next = Link20 }
enum Link20: Link { typealias Next = Link21 }
enum Link21: Link { typealias Next = Link22 }
enum Link22: Link { typealias Next = Link23 }
enum Link23: Link { typealias Next = Link24 }
enum Link24: Link { typealias Next = Link25 }
enum Link25: Link { typealias Next = Link26 }
enum Link26: Link { typealias Next = Link27 }
enum Link27: Link { typealias Next = Link28 }
enum Link28: Link { typealias Next = Link29 }
enum Link29: Link { typealias Next = Link30 }
enum Link30: Link { typealias Next = Link31 }
enum Link31: Link { typealias Next = Link32 }
enum Link32: Link { typealias Next = Link33 }
enum Link33: Link { typealias Next = Link34 }
enum Link34: Link { typealias Next = Link35 }
enum Link35: Link { typealias Next = Link36 }
enum Link36: Link { typealias Next = Link37 }
enum Link37: Link { typealias Next = Link38 }
enum Link38: Link { typealias Next = Link39 }
enum Link39: Link { typealias Next = Link40 }

enum Link40: Feature {
    static func load(in container: any FeatureContainer) -> Int { container[Timeout.self] }
}
