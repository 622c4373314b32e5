@testable import Fugu

/// How much a container's node remembers, counted and not weighed.
struct RememberedSize: Equatable {
    /// The recipes of what is there, and those behind them, each once.
    var recipes = 0
    /// All that these name.
    var inputs = 0
    var dependents = 0
    var flights = 0
    var followers = 0
    var places = 0
    var exclusions = 0
    var cells = 0
    var children = 0
    var active = 0
    var layers = 0
    var namings = 0
}

extension Container {
    var size: RememberedSize {
        let node = backing.node
        return node.family.lock.withLock {
            var size = RememberedSize()
            var open: [Recipe] = []
            for cell in node.storage.cells {
                size.cells += 1
                guard let facts = cell.info?.value else { continue }
                if let recipe = facts.recipe { open.append(recipe) }
                if let recipe = facts.lastRecipe { open.append(recipe) }
                size.dependents += facts.dependents.count
                size.flights += facts.flights.reduce(0) { count, _ in count + 1 }
                size.followers += facts.followers == nil ? 0 : 1
                size.places += facts.place.hasBelow ? 1 : 0
                size.exclusions += facts.exclusion == nil ? 0 : 1
            }
            var seen: Set<ObjectIdentifier> = []
            while let recipe = open.popLast() {
                guard seen.insert(ObjectIdentifier(recipe)).inserted else { continue }
                size.recipes += 1
                size.inputs += recipe.inputs.count + recipe.others.count
                open += recipe.inputs.compactMap { $0.recipe?.object }
            }
            var child = node.storage.facts.firstChild?.object
            while let next = child {
                size.children += 1
                child = next.storage.facts.nextSibling?.object
            }
            size.active = Int(node.storage.facts.activeCount)
            size.layers = node.family.layers.count
            size.namings = node.family.namings.count
            return size
        }
    }
}
