import Fugu

/// How a reader ended.
struct Answer: Sendable {
    let reader: RandomGraph.Reader
    let result: Result<Made, any Error>
}

extension World {
    /// Events that the laws forbid.
    func verdict(on answers: [Answer], closedBefore: [Int]) -> [String] {
        let state = now
        var faults = state.violations
        for (id, load) in state.loads.enumerated() {
            let count = state.closed.count { $0 == id }
            if count != 1 { faults.append("the closer of load \(id) of V\(load.vertex) ran \(count) times") }
        }
        if graph.mode != .churning { faults += faultsOfOrder(state) }
        faults += answers.flatMap { judge($0) }
        switch graph.mode {
        case .calm, .cancelling:
            faults += faultsOfIdentity(state, answers, closedBefore)
            if graph.isStrict { faults += faultsOfNumber(state) }
        case .cyclic, .churning: break
        }
        return faults
    }

    /// Dependents are closed before their inputs.
    private func faultsOfOrder(_ state: State) -> [String] {
        var place: [Int: Int] = [:]
        for (index, id) in state.closed.enumerated() { place[id] = index }
        return state.loads.enumerated().flatMap { id, load in
            load.needs.compactMap { need in
                guard let own = place[id], let other = place[need.made.load], own > other else { return nil }
                return "load \(id) of V\(load.vertex) was closed after V\(need.vertex), which it was made from"
            }
        }
    }

    private func judge(_ answer: Answer) -> [String] {
        let vertex = answer.reader.vertex
        let round = graph.round
        let isRound = round.contains(vertex) || !round.isDisjoint(with: graph.reach(of: vertex))
        switch answer.result {
        case .success: return isRound && graph.mode == .cyclic ? ["V\(vertex) loaded though it needs itself"] : []
        case .failure(is CancellationError):
            return answer.reader.isCancelled ? [] : ["a reader of V\(vertex) that was not cancelled was released"]
        case .failure(let error as LoadError):
            if graph.mode == .churning { return error.description.contains("is closed") ? [] : ["\(error)"] }
            return isRound && isWay(error.path) ? [] : ["V\(vertex) threw \(error.path)"]
        case .failure(let boom as Boom):
            let culprits = graph.reach(of: vertex).union([vertex]).filter { graph.vertices[$0].failures > 0 }
            return culprits.contains { boom.name == "V\($0)" } ? [] : ["V\(vertex) threw \(boom)"]
        case .failure(let error): return ["V\(vertex) threw \(error)"]
        }
    }

    /// Whether a path follows the graph and ends with a key that it has already.
    ///
    /// A load on the way that ended meanwhile, because it was cancelled, is left out of the way.
    private func isWay(_ path: [String]) -> Bool {
        let numbers = path.compactMap { name in (0..<graph.vertices.count).first { name == "Vertex<V\($0)>" } }
        guard numbers.count == path.count, let last = numbers.last, numbers.dropLast().contains(last) else {
            return false
        }
        return zip(numbers, numbers.dropFirst()).allSatisfy { graph.reach(of: $0).contains($1) }
    }

    /// Everyone gets the one instance that is kept, which is not closed before the container.
    private func faultsOfIdentity(_ state: State, _ answers: [Answer], _ closedBefore: [Int]) -> [String] {
        var kept: [String: Int] = [:]
        var faults: [String] = []
        func see(_ vertex: Int, _ home: String, _ made: Made) {
            let name = "V\(vertex) of \(home)"
            if kept[name, default: made.load] != made.load { faults.append("\(name) was given in two instances") }
            kept[name] = made.load
            if state.loads[made.load].home != home {
                faults.append("\(name) was made for \(state.loads[made.load].home)")
            }
        }
        for answer in answers {
            guard case .success(let made) = answer.result else { continue }
            see(answer.reader.vertex, graph.home(of: answer.reader.vertex, askedIn: answer.reader.container), made)
        }
        for load in state.loads {
            for need in load.needs {
                see(need.vertex, graph.vertices[need.vertex].readsTenant ? load.home : "root", need.made)
            }
        }
        for (name, id) in kept where closedBefore.contains(id) { faults.append("\(name) was closed while it was kept") }
        return faults
    }

    /// Where nothing is cancelled, a load is only repeated because it failed.
    private func faultsOfNumber(_ state: State) -> [String] {
        Dictionary(grouping: state.loads) { "V\($0.vertex) of \($0.home)" }.compactMap { name, loads in
            let successes = loads.count { $0.end == .success }
            if successes > 1 { return "\(name) was loaded \(successes) times" }
            if loads.contains(where: { !$0.overlaps.isEmpty }) { return "\(name) was loaded twice at a time" }
            return loads.dropLast().contains { $0.end == .success } ? "\(name) was loaded again after a success" : nil
        }
    }
}
