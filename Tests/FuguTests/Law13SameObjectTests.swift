import Fugu
import Observation
import Support
import Testing

extension ContainerKeys {
    fileprivate var volume: PropertyKey<Int> { .init(defaultValue: 5) }
}

@Suite("Law 13: the observable container is one object") struct Law13SameObjectTests {
    @Test("It is the same each time while someone holds it, and keeps no circle (laws 8 and 13)")
    func same() {
        var container: Container? = Container()
        weak let alive = container
        var observable: ObservableContainer? = container!.observable
        expect(container!.observable, is: observable)
        expect(container!.child().observable !== observable)
        container = nil
        expect(alive != nil)
        observable = nil
        expect(alive == nil)
    }

    @Test("SwiftUI's bindings read and write through it (law 13)")
    func bindings() {
        let container = Container()
        let path: ReferenceWritableKeyPath<ObservableContainer, Int> = \.volume
        let observable = container.observable
        let changes = Counter()
        withObservationTracking {
            expect(observable[keyPath: path], equals: 5)
        } onChange: {
            changes.add()
        }
        observable[keyPath: path] = 6
        expect(container.volume, equals: 6)
        expect(changes.value, equals: 1)
    }
}
