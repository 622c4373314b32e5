/// Finds the name that a user may have meant.
package enum NearestName {
    /// The known name with the fewest edits from `name`, if these are no more than a third of it; the first in order on
    /// a tie.
    package static func suggestion(for name: String, among known: some Sequence<String>) -> String? {
        let characters = Array(name.lowercased().unicodeScalars)
        guard (1...200).contains(characters.count) else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in known {
            let limit = best?.distance ?? max(1, characters.count / 3)
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - characters.count) <= limit else { continue }
            guard let distance = distance(characters, other, limit: limit) else { continue }
            if let best, (best.distance, best.name) <= (distance, candidate) { continue }
            best = (candidate, distance)
        }
        return best?.name
    }

    /// Insertions, removals, replacements and swaps of neighbours from one to the other; nil beyond `limit`.
    private static func distance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar], limit: Int) -> Int? {
        var beforeLast = [Int]()
        var last = Array(0...second.count)
        for i in first.indices {
            var row = [i + 1]
            for j in second.indices {
                var cost = min(last[j] + (first[i] == second[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            guard row.min()! <= limit else { return nil }
            (beforeLast, last) = (last, row)
        }
        return last[second.count] <= limit ? last[second.count] : nil
    }
}
