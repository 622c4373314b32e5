import Fugu
import FuguConfiguration
import FuguLoadStates
import Support
import Testing

/// What a library may look like that reads its settings without a container.
private struct Pool: Equatable {
    var size: Int
    var hosts: [String]

    init(settings: any PropertyReader) throws {
        size = try settings.property("size") ?? 10
        hosts = try settings.property("hosts", as: [String].self) ?? []
    }
}

private struct PoolFeature: ThrowingFeature {
    let pool: Pool
    static func load(in container: any FeatureContainer) throws -> PoolFeature {
        try PoolFeature(pool: Pool(settings: container.section("pool")))
    }
}

private struct Whole: ThrowingFeature {
    let size: Int?
    static func load(in container: any FeatureContainer) throws -> Whole {
        let reader: any PropertyReader = container.section()
        return try Whole(size: reader.property("pool.size"))
    }
}

private struct Sized: ThrowingFeature {
    let size: Int?
    static func load(in container: any FeatureContainer) throws -> Sized {
        try Sized(size: container.property("pool.size", as: Int.self))
    }
}

private struct Demanding: ThrowingFeature {
    let size: Int
    static func load(in container: any FeatureContainer) throws -> Demanding {
        try Demanding(size: Container.current.require(\.poolSize))
    }
}

extension ContainerKeys {
    fileprivate var poolSize: PropertyKey<Int> { .init("pool.size", defaultValue: 1) }
}

/// Libraries read their settings from whatever holds them (laws 11, 15, and 16).
struct SettingsReaderTests {
    private let container = Container()
    private let source = MutableSource(["pool": ["size": 5, "hosts": ["a"]]], name: "values")

    init() throws { try container.apply(source) }

    @Test(
        "A library reads the same settings from whatever has them, and throws a wrong one with its place (laws 15, 16 and 17)"
    )
    func readers() throws {
        // A library reads the same settings from a section, a container, a handle, and the values of a source.
        do {
            let expected = try Pool(settings: container.section("pool"))
            expect(expected.size, equals: 5)
            expect(expected.hosts, equals: ["a"])
            try expect(container[PoolFeature.self].pool, equals: expected)
            try expect(Pool(settings: PropertySnapshot(["size": 5, "hosts": ["a"]], source: "own")), equals: expected)
            let readers: [any PropertyReader] = [container, container.child(), container.observable, try source.load()]
            for reader in readers { try expect(reader.property("pool.size"), equals: 5) }
            for reader in readers { try expect(reader.property("pool.other", as: Int.self) == nil) }
        }
        // A reader throws a wrong value with its place and without the value.
        do {
            let source = TOMLSource(text: "pool.size = 'hunter2'", name: "app.toml")
            let wrong = Container()
            try wrong.apply(source)
            let readers: [any PropertyReader] = [wrong, wrong.child(), wrong.section("pool"), try source.load()]
            for (reader, name) in zip(readers, ["pool.size", "pool.size", "size", "pool.size"]) {
                let error = #expect(throws: PropertyError.self) { try reader.property(name, as: Int.self) }
                expect(error?.line, equals: 1)
                expect(error?.column, equals: 13)
                expect(error?.name, equals: "pool.size")
                expect("\(error.map { "\($0)" } ?? "hunter2")".contains("hunter2"), equals: false)
            }
        }
    }

    @Test("What a library reads through a handle is an input of the load, also what nothing gives (laws 10 and 11)")
    func inputs() throws {
        try expect(container[Whole.self].size, equals: 5)
        let child = container.child()
        try child.apply(DictionarySource(["pool.size": 7], name: "child"))
        try expect(child[Whole.self].size, equals: 7)
        try expect(container[Whole.self].size, equals: 5)
        let empty = Container()
        try expect(empty[PoolFeature.self].pool.size, equals: 10)
        let other = empty.child()
        try other.apply(DictionarySource(["pool.size": 8], name: "child"))
        try expect(other[PoolFeature.self].pool.size, equals: 8)
    }

    @Test(
        "A load that fails because of a setting is tried again when it is right, or there at all (law 9)",
        .timeLimit(.minutes(5)))
    func retriedWhenRight() async throws {
        // A load that fails because of a wrong setting is tried again when the setting is right.
        do {
            let source = MutableSource(["pool.size": "many"], name: "values")
            let container = Container()
            container.handleReports(by: { _ in })
            try container.apply(source)
            var sized = container.states(of: Sized.self).makeAsyncIterator()
            while let state = await sized.next(), state.error == nil {}
            var demanding = container.states(of: Demanding.self).makeAsyncIterator()
            while let state = await demanding.next(), state.error == nil {}
            source["pool.size"] = 7
            while let state = await sized.next(), state.instance?.size != 7 {}
            while let state = await demanding.next(), state.instance?.size != 7 {}
        }
        // A load that fails because nothing gives a setting is tried again when something does.
        do {
            let source = MutableSource(name: "values")
            let container = Container()
            try container.apply(source)
            var demanding = container.states(of: Demanding.self).makeAsyncIterator()
            while let state = await demanding.next(), state.error == nil {}
            source["pool.size"] = 7
            while let state = await demanding.next(), state.instance?.size != 7 {}
        }
    }
}
