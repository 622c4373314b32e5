// What a node holds of a key.

/// Who gives what a node holds of a key: what the first one gives counts.
package enum Origin: Comparable {
    case code, rule, source

    /// The flags of a cell that has what the origin gives.
    fileprivate var flags: UInt64 { self == .code ? CellFlags.held : CellFlags.held | CellFlags.automatic }
}

/// What an origin gives for a key.
package enum Setting {
    case nothing
    case value(Payload)
    /// A loader instead of the feature's own.
    case loader(Replacement)
    /// A wrong value, instead of which the default is loaded here.
    case mistake(any Error)

    init(_ supplied: SuppliedValue) {
        switch supplied {
        case .success(let payload?): self = .value(payload)
        case .success(nil): self = .nothing
        case .failure(let error): self = .mistake(error)
        }
    }

    var isNothing: Bool { if case .nothing = self { true } else { false } }
    var value: Payload? { if case .value(let payload) = self { payload } else { nil } }
    var loader: Replacement? { if case .loader(let loader) = self { loader } else { nil } }
}

/// A loader that replaces the feature's own.
package final class Replacement: Sendable {
    let load: @Sendable (Container) throws -> Payload
    let loadAsync: (@Sendable (Container) async throws -> Payload)?
    /// What made the loader keeps here what it needs to make another one.
    let plan: (any Sendable)?

    @inline(never) package init(
        load: @escaping @Sendable (Container) throws -> Payload,
        loadAsync: (@Sendable (Container) async throws -> Payload)? = nil, plan: (any Sendable)? = nil
    ) {
        self.load = load
        self.loadAsync = loadAsync
        self.plan = plan
    }

    /// Creates a loader that gives a value.
    convenience init(_ payload: Payload) { self.init(load: { _ in payload }, loadAsync: { _ in payload }) }
}

/// What origins give for a key in a node, besides a value that code gives: that is only in the cell, which has whatever counts.
///
/// The family's lock protects it.
final class Binding {
    private var loader = Kept<Replacement?>(nil)
    private(set) var rule = Kept<Payload?>(nil)
    private var source = Kept(Setting.nothing)
    /// The report about the source's value, if that's wrong.
    var mistake: String?

    /// The loader that code gives instead of the feature's own.
    var replacement: Replacement? { loader.value }

    @inline(never) init() {}

    /// Replaces what an origin gives.
    func put(_ setting: Setting, by origin: Origin, _ garbage: inout Garbage) {
        switch origin {
        case .code: loader.set(setting.loader, &garbage)
        case .rule: rule.set(setting.value, &garbage)
        case .source: source.replace(by: setting, &garbage)
        }
    }

    /// Returns what counts where code gives nothing, and its origin.
    var automatic: (setting: Setting, origin: Origin) {
        rule.value.map { (.value($0), .rule) } ?? (source.value, .source)
    }

    /// Returns whether something else counts after an origin gives something, or nothing, if what an origin gave counted before.
    static func changes(_ origin: Origin, givesNothing: Bool, over former: Origin?) -> Bool {
        guard let former else { return !givesNothing }
        return givesNothing ? origin == former : origin <= former
    }
}

extension CellReference {
    /// The origin of what is held, if something is.
    package func origin(_ token: LockToken) -> Origin? {
        switch heldFlags {
        case 0: nil
        case CellFlags.held: .code
        default: binding(token)!.automatic.origin
        }
    }

    func binding(_ token: LockToken) -> Binding? { place?[token].rare?.binding }

    /// The loader that replaces the feature's own, if one does.
    @inline(__always)
    package func loader(_ token: LockToken) -> Replacement? { binding(token)?.replacement }

    /// The value that code gives.
    package func code(_ token: LockToken) -> Payload? { heldFlags == CellFlags.held ? payload : nil }

    /// The value that a rule gives.
    package func rule(_ token: LockToken) -> Payload? { binding(token)?.rule.value }

    /// Returns what code or a rule gives, for code to set it elsewhere: in a copy, a rule's value is one of code.
    func setting(_ token: LockToken) -> Setting {
        if let loader = loader(token) { return .loader(loader) }
        return (code(token) ?? rule(token)).map { .value($0) } ?? .nothing
    }

    /// Publishes what counts now that code gives something or, if it gives nothing, what others give, and moves what counted before
    /// into the garbage.
    func publish(_ token: LockToken, _ setting: Setting, at time: UInt64, isOpen: Bool, _ garbage: inout Garbage) {
        if setting.isNothing, let binding = binding(token) {
            let automatic = binding.automatic
            garbage.add(put(automatic.setting, by: automatic.origin, at: time, isOpen: isOpen))
        } else {
            garbage.add(put(setting, by: .code, at: time, isOpen: isOpen))
        }
    }

    private func put(_ setting: Setting, by origin: Origin, at time: UInt64, isOpen: Bool) -> Garbage {
        switch setting {
        case .value(let payload): store(payload, flags: origin.flags, at: time, isOpen: isOpen)
        case .loader, .mistake: clear(flags: origin.flags, at: time)
        case .nothing: clear(at: time)
        }
    }
}
