import Foundation
import Fugu
import Support
import Testing

/// What a family of containers gives if each read evaluates everything anew, from what is set, replaced, decorated, and added.
private final class LayersModel {
    enum Base { case own, value(String), loader(String, level: Int) }
    struct Held {
        var base = Base.own
        var layers: [(name: String, level: Int, isElement: Bool)] = []
    }
    final class Box {
        let parent: Box?
        var levels: [Int: Int] = [:]
        var held: [Int: Held] = [:]
        init(_ parent: Box?) { self.parent = parent }
    }

    /// The levels that each feature's own load reads, and the features.
    let reads: [(levels: [Int], features: [Int])]
    init(_ reads: [(levels: [Int], features: [Int])]) { self.reads = reads }

    func level(_ index: Int, _ box: Box) -> Int {
        var next: Box? = box
        while let box = next {
            if let level = box.levels[index] { return level }
            next = box.parent
        }
        return 0
    }

    /// What a box holds or inherits.
    func held(_ feature: Int, _ box: Box) -> Held {
        box.held[feature] ?? box.parent.map { held(feature, $0) } ?? Held()
    }

    /// Adds a layer to what a box holds or inherits now.
    func add(_ name: String, _ level: Int, isElement: Bool, to feature: Int, _ box: Box) {
        var held = held(feature, box)
        held.layers.append((name, level, isElement))
        box.held[feature] = held
    }

    /// What the asker gets.
    func read(_ feature: Int, _ asker: Box) -> [String] {
        let held = held(feature, asker)
        var list: [String]
        switch held.base {
        case .own:
            let levels = reads[feature].levels.map { "\($0)=\(level($0, asker))" }
            let others = reads[feature].features.map { read($0, asker).joined(separator: "|") }
            list = [(levels + others).joined(separator: " ")]
        case .value(let text): list = [text]
        case .loader(let text, let level): list = ["\(text)\(self.level(level, asker))"]
        }
        for (name, level, isElement) in held.layers {
            let level = self.level(level, asker)
            if isElement { list.append("\(name)\(level)") } else { list = list.map { "\(name)\(level)(\($0))" } }
        }
        return list
    }
}

@Suite("Decorations and contributions against a model") struct LayersModelTests {}

extension LayersModelTests {
    private struct World {
        let levels: [PropertyKey<Int>]
        let features: [FeatureKey<[String]>]
        let model: LayersModel
        var boxes: [(container: Container, box: LayersModel.Box)]
        var seen: [(box: Int, feature: Int, log: Log<[String]>)] = []
        var random: SeededGenerator
        var steps: [String] = []

        init(_ seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            let keys = (0..<3).map { _ in PropertyKey<Int>(defaultValue: 0, id: UniqueID()) }
            var features: [FeatureKey<[String]>] = []
            var reads: [(levels: [Int], features: [Int])] = []
            for index in 0..<3 {
                let own = (0..<3).filter { _ in Bool.random(using: &random) }
                let others = (0..<index).filter { _ in Bool.random(using: &random) }
                reads.append((own, others))
                let before = features
                features.append(
                    FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                        let texts = own.map { "\($0)=\(container[keys[$0]])" }
                        return [
                            (texts + others.map { container[before[$0]].joined(separator: "|") })
                                .joined(separator: " ")
                        ]
                    })
            }
            (self.levels, self.features, model) = (keys, features, LayersModel(reads))
            boxes = [(Container().unreported, LayersModel.Box(nil))]
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let parent = boxes.randomElement(using: &random)!
                boxes.append((parent.container.child(), LayersModel.Box(parent.box)))
            }
            self.random = random
        }

        mutating func step() {
            let number = Int.random(in: 0..<boxes.count, using: &random)
            let (container, box) = boxes[number]
            let feature = Int.random(in: 0..<3, using: &random)
            let (key, level) = (features[feature], Int.random(in: 0..<3, using: &random))
            let levelKey = levels[level]
            let name = String("abcdefghijklmnopqrstuvwxyz".randomElement(using: &random)!)
            switch Int.random(in: 0..<16, using: &random) {
            case 0...2:
                let value = Int.random(in: 0..<4, using: &random)
                steps.append("\(number).levels[\(level)] = \(value)")
                container[levelKey] = value
                box.levels[level] = value
            case 3:
                steps.append("\(number).reset level \(level)")
                container.reset { _ in levelKey }
                box.levels[level] = nil
            case 4:
                steps.append("\(number).\(feature) = \(name)")
                container[key] = [name]
                box.held[feature] = .init(base: .value(name))
            case 5:
                steps.append("\(number).replace \(feature) \(name)\(level)")
                container.replace({ _ in key }) { ["\(name)\($0[levelKey])"] }
                box.held[feature] = .init(base: .loader(name, level: level))
            case 6...8:
                steps.append("\(number).decorate \(feature) \(name)\(level)")
                container.decorate({ _ in key }) { list, handle in
                    let level = handle[levelKey]
                    return list.map { "\(name)\(level)(\($0))" }
                }
                model.add(name, level, isElement: false, to: feature, box)
            case 9...11:
                steps.append("\(number).contribute \(feature) \(name)\(level)")
                container.contribute(to: { _ in key }) { "\(name)\($0[levelKey])" }
                model.add(name, level, isElement: true, to: feature, box)
            case 12...13:
                steps.append("\(number).reset \(feature)")
                container.reset { _ in key }
                box.held[feature] = nil
            case 14 where seen.count < 4:
                steps.append("\(number).observe \(feature)")
                let log = Log<[String]>()
                // A feature that nothing has read yet needn't be loaded for its observers.
                _ = container[key]
                container.observe({ _ in key }) { log.add($0) }
                log.add(container[key])
                seen.append((number, feature, log))
            default:
                guard boxes.count > 2, number == boxes.count - 1, !seen.contains(where: { $0.box == number }) else {
                    break
                }
                steps.append("\(number) ends")
                boxes.removeLast()
            }
            if Int.random(in: 0..<3, using: &random) == 0 { return checkSeen() }
            for (number, box) in boxes.enumerated() {
                for feature in 0..<3 where Bool.random(using: &random) {
                    let expected = model.read(feature, box.box)
                    let given = box.container[features[feature]]
                    expect(given, equals: expected, "\(number).\(feature) after \(steps)")
                }
            }
            checkSeen()
        }

        func checkSeen() {
            for (number, feature, log) in seen {
                let expected = model.read(feature, boxes[number].box)
                expect(log.all.last ?? [], equals: expected, "\(number).\(feature) observed after \(steps)")
            }
        }
    }

    @Test("Random families of decorated features and lists give what a model gives (laws 2, 10, 11, and 12)")
    func random() {
        let length = 30
        let steps = ProcessInfo.processInfo.environment["FUGU_STEPS"].flatMap { Int($0) } ?? 6_000
        for seed in seeds(steps / length, for: "LayersModelTests") {
            var world = World(seed)
            for _ in 0..<length {
                world.step()
            }
            if world.steps.isEmpty { continue }
            let (copied, box) = world.boxes.last!
            let copy = Container(copying: copied)
            for feature in 0..<3 {
                expect(copy[world.features[feature]], equals: world.model.read(feature, box))
            }
        }
    }
}
