/// Who needs what is read, as far as it is a load or the like.
struct Need {
    var activity: (any Activity)?
    /// The outermost activity on this thread or task.
    var outermost: (any Activity)?
    /// Why it must not be had.
    var fault: Fault?
    /// How often something was waited for that was made from old values.
    var outdatedCount = 0
    /// Whether the load that is waited for was begun by this read, in a task of its own.
    var hasBegun = false
}

/// The way of a load that needs itself, or that is nested too deeply to be anything else.
struct Fault {
    enum Kind {
        case cycle, tooDeep
        /// A feature that belongs to the whole family was made from something that the asker overrides.
        case overridden
    }
    let way: [Key]
    let kind: Kind
}

extension Node {
    /// Under the lock: who needs what is read now: what runs on this thread or task, or, where nothing does, the load whose
    /// handle is used.
    func need(_ key: Key, through recorder: Flight?) -> Need {
        let (current, outermost) = Current.unfinishedAndOutermost
        let activity = current ?? recorder
        var fault = fault(of: key, neededBy: activity)
        // A handle that another load lent: what runs here waits in its own name, but that load must not need itself either.
        if fault == nil, let recorder, let current, current !== recorder {
            if !current.chain.contains(where: { $0 === recorder }) {
                fault = self.fault(of: key, neededBy: recorder)
            }
        }
        return Need(activity: activity, outermost: outermost, fault: fault)
    }

    /// Under the lock: whether a load needs itself, or is nested too deeply to be anything else.
    private func fault(of key: Key, neededBy parent: (any Activity)?) -> Fault? {
        guard let parent else { return nil }
        let nesting = parent.nesting
        // The bits of several keys may be the same; who needs itself is in flight.
        if nesting.mask & key.mask != 0, family.existingLoads(of: key)?.value.flights.isEmpty == false,
            parent.chain.contains(where: { $0.key == key && $0.family === family && $0 is Flight })
        {
            return Fault(way: parent.way + [key], kind: .cycle)
        }
        guard nesting.level >= 100, nesting.level >= Nesting.deepest || nesting.hasNoStackLeft else { return nil }
        return Fault(way: parent.way + [key], kind: .tooDeep)
    }

    /// Stops the program where the kind of the key that was asked for cannot throw.
    func error(of fault: Fault, _ requested: Key) -> LoadError {
        let error: LoadError =
            switch fault.kind {
            case .cycle: .cycle(fault.way)
            case .tooDeep: .tooDeep(fault.way)
            case .overridden: .overridden(fault.way, of: requested)
            }
        guard requested.kind.throws else { fatalError(error.description) }
        return error
    }
}
