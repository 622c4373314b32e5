/// Who needs what is read, as far as it is a load or the like.
struct Need {
    let activity: (any Activity)?
    let standing: Standing?
    /// Why it must not be had.
    let fault: Fault?
}

/// The way of a load that needs itself, or that is nested too deeply to be anything else.
struct Fault {
    let way: [Key]
    let isCycle: Bool
}

extension Node {
    /// Under the lock: who needs what is read now: what runs on this thread, if that is part of the load whose handle is
    /// used, else that load.
    func need(_ key: Key, through recorder: Flight?) -> Need {
        let current = Current.unfinished
        var activity = recorder ?? current
        if let current, let recorder, current !== recorder {
            if current.chain.contains(where: { $0 === recorder }) {
                activity = current
            } else if let fault = fault(of: key, neededBy: current, current.standing) {
                // A handle that another load lent: what runs here must not need itself either.
                return Need(activity: recorder, standing: nil, fault: fault)
            }
        }
        let standing = activity?.standing
        return Need(activity: activity, standing: standing, fault: fault(of: key, neededBy: activity, standing))
    }

    /// Under the lock: whether a load needs itself, or is nested too deeply to be anything else.
    private func fault(of key: Key, neededBy parent: (any Activity)?, _ standing: Standing?) -> Fault? {
        guard let parent, let standing, standing.mask & key.mask != 0 || standing.level >= 100 else { return nil }
        // The bits of several keys may be the same; who needs itself is in flight.
        let isLoading = family.existingLoads(of: key)?.value.flights.isEmpty == false
        guard isLoading || standing.level >= 100 else { return nil }
        let isCycle = parent.chain.contains { $0.key == key && $0.family === family && $0 is Flight }
        guard isCycle || standing.level >= 100 && parent.chain.reduce(0, { count, _ in count + 1 }) >= 100 else {
            return nil
        }
        return Fault(way: parent.way + [key], isCycle: isCycle)
    }

    /// Stops the program where the kind of the key cannot throw.
    func error(of fault: Fault) -> LoadError {
        let error = fault.isCycle ? LoadError.cycle(fault.way) : LoadError.tooDeep(fault.way)
        guard fault.way.last?.kind.throws == true else { fatalError(error.description) }
        return error
    }
}
