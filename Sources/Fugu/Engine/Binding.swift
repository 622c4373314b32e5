// What a node holds of a key.

/// Who gives what a node holds of a key: what the first one gives counts.
enum Origin: Comparable {
    case code, rule, source

    /// The flags of a cell that has what the origin gives.
    fileprivate var flags: UInt64 { self == .code ? CellFlags.held : CellFlags.held | CellFlags.automatic }
}

/// What code gives.
enum Setting {
    case value(Payload)
    case loader(Replacement)

    var loader: Replacement? { if case .loader(let loader) = self { loader } else { nil } }
}

/// A loader that replaces the feature's own.
final class Replacement: Sendable {
    let load: @Sendable (Container) throws -> Payload
    let loadAsync: (@Sendable (Container) async throws -> Payload)?
    /// The place in a chain of decorations and lists, if it's part of one.
    let link: Link?

    @inline(never) init(
        load: @escaping @Sendable (Container) throws -> Payload,
        loadAsync: (@Sendable (Container) async throws -> Payload)? = nil, link: Link? = nil
    ) {
        self.load = load
        self.loadAsync = loadAsync
        self.link = link
    }

    /// Returns the same loader in a chain.
    func linked(_ link: Link) -> Replacement { Replacement(load: load, loadAsync: loadAsync, link: link) }
}

/// A write, which replaces what one origin gives.
enum Operation {
    /// What code gives from now on: a reset gives nothing.
    case code(Setting?)
    case rule(Payload?)
    /// The supplier's current answer.
    case source(SuppliedValue)

    var origin: Origin {
        switch self {
        case .code: .code
        case .rule: .rule
        case .source: .source
        }
    }

    /// What code gives.
    var setting: Setting? { if case .code(let setting) = self { setting } else { nil } }

    /// Whether the binding records what's given, which isn't only in the cell.
    var isRecorded: Bool { if case .code(.value) = self { false } else { !removes } }

    /// Whether the origin gives nothing from now on.
    private var removes: Bool {
        switch self {
        case .code(nil), .rule(nil), .source(.success(nil)): true
        default: false
        }
    }

    /// Whether another value or loader counts after the write, if what an origin gave counted before.
    func counts(over former: Origin?) -> Bool {
        guard let former else { return !removes }
        return removes ? origin == former : origin <= former
    }
}

/// What origins give for a key in a node, besides a value that code sets: that is only in the cell, which has whatever counts.
struct Binding {
    /// The loader that code gives.
    var loader = Kept<Replacement?>(nil)
    var rule = Kept<Payload?>(nil)
    var source = Kept(SuppliedValue.success(nil))
    /// The report about the source's value, if that's wrong.
    var mistake: String?

    /// Lets an origin give something else.
    mutating func take(_ operation: Operation, _ garbage: inout Garbage) {
        switch operation {
        case .code(let setting): loader.set(setting?.loader, &garbage)
        case .rule(let payload): rule.set(payload, &garbage)
        case .source(let answer): source.replace(by: answer, &garbage)
        }
    }

    /// Returns what counts, without what code gives, and its origin.
    ///
    /// The value of a source that's wrong is missing, so that the default is loaded here instead.
    var automatic: (value: Payload?, origin: Origin)? {
        if let rule = rule.value { return (rule, .rule) }
        return switch source.value {
        case .success(let payload?): (payload, .source)
        case .success(nil): nil
        case .failure: (nil, .source)
        }
    }
}

extension CellReference {
    /// The origin of what is held, if something is.
    func origin(_ token: LockToken) -> Origin? {
        switch heldFlags {
        case 0: nil
        case CellFlags.held: .code
        default: place![token].rare!.binding.rule.value == nil ? .source : .rule
        }
    }

    /// What origins give, if it isn't only a value that code sets.
    func binding(_ token: LockToken) -> Binding? { place?[token].rare?.binding }

    /// The loader that replaces the feature's own, if one does.
    @inline(__always)
    func loader(_ token: LockToken) -> Replacement? { place?[token].rare?.binding.loader.value }

    /// The value that code has set.
    func code(_ token: LockToken) -> Payload? { heldFlags == CellFlags.held ? payload : nil }

    /// Returns what code or a rule gives, for code to set it elsewhere, or `nil` for what a source gives.
    func setting(_ token: LockToken) -> Setting? {
        if let loader = loader(token) { return .loader(loader) }
        return (code(token) ?? binding(token)?.rule.value).map { .value($0) }
    }

    /// Publishes what counts now that code gives something, or nothing, and moves what counted before into the garbage.
    func publish(
        _ token: LockToken, _ setting: Setting?, at time: UInt64, isOpen: Bool, _ garbage: inout Garbage
    ) {
        let (value, origin): (Payload?, Origin)
        switch setting {
        case .value(let payload): (value, origin) = (payload, .code)
        case .loader: (value, origin) = (nil, .code)
        case nil:
            guard let automatic = binding(token)?.automatic else { return garbage.add(clear(at: time)) }
            (value, origin) = automatic
        }
        garbage.add(
            value.map { store($0, flags: origin.flags, at: time, isOpen: isOpen) }
                ?? clear(flags: origin.flags, at: time))
    }
}
