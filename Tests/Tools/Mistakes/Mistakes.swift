// Common mistakes, and what the compiler or the program says of each.
//
// Each is a program of its own, which begins after the line with its name and imports Fugu. The first line of a mistake quotes the
// first line of the message: after "compiler:", the error of the compiler; after "program:", the trap, report, or error that the
// program prints when it runs. The second line says how to correct the mistake. `check` compares the messages.

// swift-format-ignore-file: OrderedImports

// MARK: AccessorOnContainer
// compiler: error: value of type 'any FeatureContainer' has no dynamic member 'greeter' using key path from root type 'ContainerKeys'
// Cure: write accessors in an extension of FeatureContainer, so that loads have them, too.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

extension Container {
    var greeter: Greeter { self[Greeter.self] }
}

struct Doorman: Feature {
    let greeter: Greeter
    static func load(in container: any FeatureContainer) -> Doorman { Doorman(greeter: container.greeter) }
}

// MARK: AccessorOnContainerInjected
// compiler: error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'K.Type' | error: generic parameter 'K' could not be inferred
// Cure: write accessors in an extension of FeatureContainer.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

extension Container {
    var greeter: Greeter { self[Greeter.self] }
}

struct Doorman {
    @Injected(\.greeter) var greeter
}

// MARK: AsyncInPlainLoad
// compiler: error: 'async' subscript access in a function that does not support concurrency
// Cure: conform to AsyncFeature, too; or warm the database up and read it with `container.loaded(Database.self)`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users: Feature {
    static func load(in container: any FeatureContainer) -> Users {
        _ = container[Database.self]
        return Users()
    }
}

// MARK: AwaitForgotten
// compiler: error: subscript access can throw but is not marked with 'try'
// Cure: write `try await container[Database.self]`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func open(_ container: Container) async throws -> Database { container[Database.self] }

// MARK: AwaitForgottenAfterTry
// compiler: error: caller isolation inheriting-isolated subscript 'subscript(_:_:_:_:)' cannot be accessed from outside of the actor
// Cure: write `try await container[Database.self]`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func open(_ container: Container) async throws -> Database { try container[Database.self] }

// MARK: ChildInLoad
// compiler: error: value of type 'any FeatureContainer' has no dynamic member 'child' using key path from root type 'ContainerKeys'
// Cure: make children where you have the container: a load only reads.

struct Client: Feature {
    static func load(in container: any FeatureContainer) -> Client {
        _ = container.child()
        return Client()
    }
}

// MARK: ClockMisspelled
// compiler: error: cannot assign through dynamic lookup property: 'clock' is a get-only property
// Cure: write `AnyClock(ContinuousClock())`: the type of the key has no member of this name.

func useRealTime(in container: Container) { container.clock = .continuous }

// MARK: ClosureInPlaceOfGenerator
// compiler: error: function produces expected type 'UUIDGenerator'; did you mean to call it with '()'?
// Cure: write `UUIDGenerator { UUID() }`.

import Foundation
import FuguFoundation

func supply(_ container: Container) { container.uuid = { UUID() } }

// MARK: ClosureNotSendable
// compiler: error: stored property 'send' of 'Sendable'-conforming struct 'Mail' has non-Sendable type '(String) -> ()'
// Cure: mark the closure `@Sendable`.

struct Mail: Feature, Sendable {
    var send: (String) -> Void
    static func load(in container: any FeatureContainer) -> Mail { Mail { _ in } }
}

// MARK: ContainerGone
// program: Fugu: Pool was read after its container was released.
// Cure: keep the container as long as what it made is used.

struct Pool: Feature {
    static func load(in container: any FeatureContainer) -> Pool { Pool() }
}

struct Client: Feature {
    let container: any FeatureContainer
    static func load(in container: any FeatureContainer) -> Client { Client(container: container) }
    var pool: Pool { container[Pool.self] }
}

func makeClient() -> Client { Container()[Client.self] }

_ = makeClient().pool

// MARK: ContributeElement
// compiler: error: 'contribute(to:_:)' is unavailable: give a closure that creates the element: { _ in element }
// Cure: write `container.contribute(to: \.names) { _ in "a" }`: an element is loaded in the container that lists it.

extension ContainerKeys {
    var names: FeatureKey<[String]> { .init { _ in [] } }
}

func add(_ container: Container) { container.contribute(to: \.names, "a") }

// MARK: ContributeToDictionary
// compiler: error: 'contribute(to:load:)' is unavailable: the feature must be an array; make it one of pairs, and a dictionary of them
// Cure: contribute to `var pairs: FeatureKey<[(String, Mail)]>`, and make the dictionary in a feature that reads it.

struct Mail: Sendable {}

extension ContainerKeys {
    var mails: FeatureKey<[String: Mail]> { .init { _ in [:] } }
}

func add(_ container: Container) { container.contribute(to: \.mails) { _ in ("a", Mail()) } }

// MARK: ContributeToNoArray
// compiler: error: 'contribute(to:load:)' is unavailable: the feature must be an array, of which the closure creates one element
// Cure: write `container.decorate(\.mail) { mail, _ in … }` to wrap a single instance.

struct Mail: Feature {
    static func load(in container: any FeatureContainer) -> Mail { Mail() }
}

extension ContainerKeys {
    var mail: FeatureKey<Mail> { .init(Mail.self) }
}

func add(_ container: Container) { container.contribute(to: \.mail) { _ in Mail() } }

// MARK: CurrentAssigned
// compiler: error: cannot assign to property: 'current' is a get-only property
// Cure: bind it for an operation: `Container.with(container) { … }`.

func begin(_ container: Container) { Container.current = container }

// MARK: Cycle
// program: Fugu: Session needs itself to load.
// Cure: let one of them read what it needs later, through the handle that its load was given.

struct Session: Feature {
    static func load(in container: any FeatureContainer) -> Session {
        _ = container[Account.self]
        return Session()
    }
}

struct Account: Feature {
    static func load(in container: any FeatureContainer) -> Account {
        _ = container[Session.self]
        return Account()
    }
}

_ = Container()[Session.self]

// MARK: DecorateWithOneParameter
// compiler: error: contextual closure type '@Sendable (Greeter, any FeatureContainer) -> Greeter' expects 2 arguments, but 1 was used in closure body
// Cure: write `{ greeter, _ in … }`: a decoration takes the instance and the handle of its load.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func decorate(_ container: Container) { container.decorate(Greeter.self) { greeter in greeter } }

// MARK: FailableFeatureKey
// compiler: error: 'init(_:)' is unavailable: its load can throw or suspend, which a member can't; read the type: try await container[….self]
// Cure: leave out the member, and write `try await container[Database.self]`; set it with `container.set(Database.self, to: …)`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

extension ContainerKeys {
    var database: FeatureKey<Database> { .init(Database.self) }
}

// MARK: FormWithoutImport
// compiler: error: extra argument 'form' in call
// Cure: import FuguConfiguration.

extension ContainerKeys {
    var workers: PropertyKey<Int> { .init("server.workers", defaultValue: 4, form: .range(1...64)) }
}

// MARK: ForceUnwrapped
// compiler: error: no exact matches in call to subscript
// Cure: leave out the `!`: a read always gives an instance.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func read(_ container: Container) -> Greeter { container[Greeter.self]! }

// MARK: ForceUnwrappedInConstant
// compiler: error: subscript 'subscript(_:_:_:)' requires that 'Greeter' conform to 'MainActorFeature'
// Cure: leave out the `!`: a read always gives an instance.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

let greeter = Container()[Greeter.self]!

// MARK: HomeMisspelled
// compiler: error: generic parameter 'First' could not be inferred | error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'First.Type'
// Cure: correct the name: keys are the members of ContainerKeys.

extension ContainerKeys {
    var userID: PropertyKey<Int> { .init(defaultValue: 0) }
    var session: FeatureKey<String> { .init(home: .with(\.userId)) { _ in "session" } }
}

// MARK: InjectedAssigned
// compiler: error: cannot assign to property: 'timeout' is a get-only property
// Cure: set it in a container: `container.timeout = 5`.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client {
    @Injected(\.timeout) var timeout
    mutating func shorten() { timeout = 5 }
}

// MARK: InjectedAsync
// compiler: error: 'init(_:)' is unavailable: its load can suspend; keep the container and write try await container[…] where you need it
// Cure: keep the container and read where you can wait: `try await container[Database.self]`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users {
    @Injected(Database.self) var database
}

// MARK: InjectedInObservable
// compiler: error: ambiguous reference to member '_timeout'
// Cure: write `@ObservationIgnored @Injected(\.timeout) var timeout`.

import Observation

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

@MainActor @Observable final class Model {
    @Injected(\.timeout) var timeout
}

// MARK: InjectedInSendableClass
// compiler: error: stored property '_timeout' of 'Sendable'-conforming class 'Client' is mutable
// Cure: keep the container in a constant and read from it; or use a struct, an actor, or a main-actor class.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

final class Client: Sendable {
    @Injected(\.timeout) var timeout
}

// MARK: InjectedMainActor
// compiler: error: 'init(_:)' is unavailable: it belongs to the main actor; write a computed property that reads Container.current
// Cure: write `var screen: Screen { Container.current[Screen.self] }`.

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

@MainActor final class Window {
    @Injected(Screen.self) var screen
}

// MARK: InjectedMainActorByName
// compiler: error: converting non-Sendable function value to '@Sendable (any FeatureContainer) -> Screen' may introduce data races
// Cure: write `var screen: Screen { Container.current.screen }`.

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

@MainActor final class Window {
    @Injected(\.screen) var screen
}

// MARK: InjectedMisspelled
// compiler: error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'K.Type' | error: generic parameter 'K' could not be inferred
// Cure: correct the name, or import the module that declares it: `date` is in FuguFoundation.

struct Doorman {
    @Injected(\.date.now) var now
}

// MARK: InjectedThrowing
// compiler: error: 'init(_:)' is unavailable: its load can throw; keep the container and write try container[…] where you need it
// Cure: keep the container and read where you can fail: `try container[Document.self]`.

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

struct Editor {
    @Injected(Document.self) var document
}

// MARK: InjectedUntyped
// compiler: error: missing argument for parameter 'greeter' in call
// Cure: name the member or the type: `@Injected(\.timeout)`, `@Injected(Greeter.self)`.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

struct Doorman {
    @Injected var greeter: Greeter
}

let doorman = Doorman()

// MARK: InstanceIsOfAnotherType
// compiler: error: no exact matches in call to subscript
// Cure: write the type that `load(in:)` returns: `let mail: any Mail`.

protocol Mail: Sendable {}

struct SMTP: Mail {}

enum Mails: Feature {
    static func load(in container: any FeatureContainer) -> any Mail { SMTP() }
}

func read(_ container: Container) {
    let mail: SMTP = container[Mails.self]
    print(mail)
}

// MARK: InstanceAsSomeParameter
// compiler: error: type 'any Mail' cannot conform to 'Mail' [#ProtocolTypeNonConformance]
// Cure: read it first: `let mail = container.mail`, then `deliver(by: mail)`.

protocol Mail: Sendable {}

struct SMTP: Mail {}

extension ContainerKeys {
    var mail: FeatureKey<any Mail> { .init { _ in SMTP() } }
}

func deliver(by mail: some Mail) {}

func deliver(_ container: Container) {
    deliver(by: container.mail)
}

// MARK: InstanceReturnedAsAnotherType
// compiler: error: 'subscript(_:)' is unavailable: the type must conform to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature; if it does, what it gives isn't of the type that's expected here
// Cure: return the type that `load(in:)` returns: `any Mail`.

protocol Mail: Sendable {}

struct SMTP: Mail {}

enum Mails: Feature {
    static func load(in container: any FeatureContainer) -> any Mail { SMTP() }
}

func read(_ container: Container) -> SMTP { container[Mails.self] }

// MARK: InstanceNotSendable
// compiler: error: type 'Cache' does not conform to the 'Sendable' protocol
// Cure: make the class Sendable: `final class … : Sendable`, with constants or a lock, or make it an actor.

final class Cache: Feature {
    var entries: [String: String] = [:]
    static func load(in container: any FeatureContainer) -> Cache { Cache() }
}

// MARK: KeyCalled
// compiler: error: cannot call value of non-function type 'Int'
// Cure: a key is read as a property, without parentheses.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func read(_ container: Container) -> Int { container.timeout() }

// MARK: KeyInternal
// compiler: error: 'internalLimit' is inaccessible due to 'internal' protection level
// Cure: declare the key `public` in its module, or import the module `@testable` in its tests.

import KeyLibrary

func read(_ container: Container) -> Int { container.internalLimit }

// MARK: KeyMadeInFunction
// program: Fugu: limit(_:) makes a key without an id at Mistake/KeyMadeInFunction.swift:5, so it would be one key for all arguments.
// Cure: give each key an `id`, or pass on the member and the place of the caller.

func limit(_ value: Int) -> PropertyKey<Int> { PropertyKey(defaultValue: value) }

let container = Container()
print(container[limit(3)], container[limit(5)])

// MARK: KeyIsAnotherType
// compiler: error: 'subscript(dynamicMember:)' is unavailable: a member of ContainerKeys is a key: write its type as FeatureKey<…> or PropertyKey<…>
// Cure: write `var greeter: FeatureKey<Greeter> { .init { _ in Greeter() } }`.

struct Greeter: Sendable {}

extension ContainerKeys {
    var greeter: Greeter { Greeter() }
}

func greet(_ container: Container) { _ = container.greeter }

// MARK: KeyMisspelled
// compiler: error: value of type 'Container' has no dynamic member 'tiemout' using key path from root type 'ContainerKeys'
// Cure: correct the name: keys are the members of ContainerKeys.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func read(_ container: Container) -> Int { container.tiemout }

func set(_ container: Container) { container.tiemout = 5 }

// MARK: KeyMisspelledInOperation
// compiler: error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'K.Type' | error: generic parameter 'K' could not be inferred
// Cure: correct the name: keys are the members of ContainerKeys.

func forget(_ container: Container) { container.reset(\.tiemout) }

// MARK: KeyOutsideClosure
// compiler: error: no exact matches in call to instance method 'reset'
// Cure: give the key in a closure: `container.reset { _ in limit(of: "ada") }`.

func limit(of user: String) -> PropertyKey<Int> { PropertyKey(defaultValue: 10, id: user) }

func forget(_ container: Container) { container.reset(limit(of: "ada")) }

// MARK: KeySetAsAsync
// compiler: error: 'set(_:to:)' is unavailable: assign to it instead, as in container.timeout = 4
// Cure: write `container.timeout = 4`; `set` is for features whose load can throw or suspend.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func shorten(_ container: Container) { container.set(\.timeout, to: 4) }

// MARK: KeyNamedNotDecodable
// compiler: error: 'init(_:defaultValue:isSecret:help:)' is unavailable: import FuguConfiguration, which names keys; the value must be Decodable, and have a default or be an optional
// Cure: let the type of the value conform to Decodable.

import FuguConfiguration

struct Limit: Sendable { var count = 3 }

extension ContainerKeys {
    var limit: PropertyKey<Limit> { .init("api.limit", defaultValue: Limit()) }
}

// MARK: KeyNamedWithoutConfiguration
// compiler: error: 'init(_:defaultValue:isSecret:help:)' is unavailable: import FuguConfiguration, which names keys; the value must be Decodable, and have a default or be an optional
// Cure: import FuguConfiguration, and link it.

extension ContainerKeys {
    var limit: PropertyKey<Int> { .init("api.limit", defaultValue: 3) }
}

// MARK: KeyNamedWithoutDefault
// compiler: error: 'init(_:defaultValue:isSecret:help:)' is unavailable: import FuguConfiguration, which names keys; the value must be Decodable, and have a default or be an optional
// Cure: give a default, or make the value an optional.

import FuguConfiguration

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init("api.timeout") }
}

// MARK: KeyRequiredWithoutConfiguration
// compiler: error: missing argument label 'isSecret:' in call
// Cure: import FuguConfiguration, and link it.

extension ContainerKeys {
    var address: PropertyKey<String> { .required("database.url") }
}

// MARK: KeyNotSendable
// compiler: error: type 'Settings' does not conform to the 'Sendable' protocol
// Cure: hold a value that is Sendable: a struct, an actor, or a final class with a lock.

final class Settings { var volume = 1 }

extension ContainerKeys {
    var settings: PropertyKey<Settings> { .init(defaultValue: Settings()) }
}

// MARK: KeyOfTwoModules
// compiler: error: cannot convert return expression of type 'String' to return type 'Int'
// Cure: give the key another name, or import only one of the modules where it is used.

import KeyLibrary

// KeyLibrary declares a key of this name, too. The own module's declaration wins, so a program means its own key; here the
// type shows it.
extension ContainerKeys {
    var publicLimit: PropertyKey<String> { .init(defaultValue: "none") }
}

func read(_ container: Container) -> Int { container.publicLimit }

// MARK: KeyOnContainer
// compiler: error: cannot assign to property: 'timeout' is a get-only property
// Cure: declare the key in an extension of ContainerKeys, not of Container.

extension Container {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func set(_ container: Container) { container.timeout = 5 }

// MARK: KeyStatic
// compiler: error: static member 'timeout' cannot be used on instance of type 'ContainerKeys'
// Cure: leave out `static`: keys are instance members of ContainerKeys.

extension ContainerKeys {
    static var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func read(_ container: Container) -> Int { container.timeout }

// MARK: KeyStaticKeyPath
// compiler: error: static member 'timeout' cannot be used on instance of type 'ContainerKeys'
// Cure: leave out `static`: keys are instance members of ContainerKeys.

extension ContainerKeys {
    static var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func reset(_ container: Container) { container.reset(\.timeout) }

// MARK: KeyStored
// compiler: error: extensions must not contain stored properties
// Cure: write a computed property with its type: `var timeout: PropertyKey<Int> { .init(defaultValue: 30) }`.

extension ContainerKeys {
    var timeout = PropertyKey(defaultValue: 30)
}

// MARK: KeyStoredLet
// compiler: error: extensions must not contain stored properties
// Cure: write a computed property with its type: `var timeout: PropertyKey<Int> { .init(defaultValue: 30) }`.

extension ContainerKeys {
    let timeout: PropertyKey<Int> = .init(defaultValue: 30)
}

// MARK: KeyTwice
// compiler: error: invalid redeclaration of 'timeout'
// Cure: properties and features share one namespace: give one of the two another name.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
    var timeout: FeatureKey<String> { .init { _ in "30 s" } }
}

// MARK: KeyWithoutDefault
// compiler: error: 'init(isSecret:)' is unavailable: give a default: .init(defaultValue: …), or make the value an optional
// Cure: give a default, or make the value an optional.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init() }
}

// MARK: LoadIsAsync
// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: conform to AsyncFeature.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) async -> Greeter { Greeter() }
}

// MARK: LoadTakesContainer
// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: the parameter is `any FeatureContainer`, the handle that records what is read.

struct Greeter: Feature {
    static func load(in container: Container) -> Greeter { Greeter() }
}

// MARK: LoadThrows
// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: conform to ThrowingFeature.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) throws -> Greeter { Greeter() }
}

// MARK: LoadedOfPlainFeature
// compiler: error: 'loaded' is unavailable: a plain feature loads when it's read; use the subscript
// Cure: read a plain feature with `container[Greeter.self]`; it loads if needed.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func read(_ container: Container) -> Greeter { container.loaded(Greeter.self) }

// MARK: LoadedOfKey
// compiler: error: 'loaded' is unavailable: what has a FeatureKey loads when it's read, as in container.mail
// Cure: write `container.greeter`.

extension ContainerKeys {
    var greeter: FeatureKey<String> { .init { _ in "Hello" } }
}

func read(_ container: Container) -> String { container.loaded(\.greeter) }

// MARK: MadeAgain
// program: Fugu: Database loads again for a child container that overrides \.requestID, container 1 (made at Mistake/MadeAgain.swift:24). This can be expensive, because it reaches outside the process or registers teardown closures.
// Cure: declare the home `.shared` and read a logger that knows nothing of requests.

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct Logger: Feature {
    let id: Int
    static func load(in container: any FeatureContainer) -> Logger { Logger(id: container.requestID) }
}

struct Database: Feature {
    static func load(in container: any FeatureContainer) -> Database {
        _ = container[Logger.self]
        container.onClose {}
        return Database()
    }
}

let server = Container()
_ = server[Database.self]
let request = server.child { $0.requestID = 7 }
_ = request[Database.self]

// MARK: MainActorConformance
// compiler: error: conformance of 'Screen' to protocol 'Feature' crosses into main actor-isolated code and can cause data races [#ConformanceIsolation]
// Cure: conform to MainActorFeature.

@MainActor final class Screen { init() {} }

extension Screen: Feature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

// MARK: MainActorExternal
// compiler: error: conformance of 'Screen' to protocol 'External' crosses into main actor-isolated code and can cause data races [#ConformanceIsolation]
// Cure: leave out `External`, and declare `testValue(in:)`.

@MainActor final class Screen: MainActorFeature, External {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
    static var placeholder: Screen { Screen() }
}

// MARK: MainActorFunctionInLoad
// compiler: error: call to main actor-isolated global function 'deviceName()' in a synchronous nonisolated context [#ActorIsolatedCall]
// Cure: conform to MainActorFeature, or mark the function `nonisolated`.

@MainActor func deviceName() -> String { "phone" }

struct Device: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> Device { Device(name: deviceName()) }
}

// MARK: MainActorInFeatureKey
// compiler: error: 'init(_:)' is unavailable: it belongs to the main actor; write MainActorFeatureKey
// Cure: write `MainActorFeatureKey<Screen> { .init(Screen.self) }`.

@MainActor final class Screen: MainActorFeature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: FeatureKey<Screen> { .init(Screen.self) }
}

// MARK: MainActorInPlainKey
// compiler: error: call to main actor-isolated initializer 'init()' in a synchronous nonisolated context [#ActorIsolatedCall]
// Cure: declare `MainActorFeatureKey<any Speech>`.

@MainActor protocol Speech: Sendable { func say(_ text: String) }

@MainActor final class SystemSpeech: Speech {
    init() {}
    func say(_ text: String) {}
}

extension ContainerKeys {
    var speech: FeatureKey<any Speech> { .init { _ in SystemSpeech() } }
}

// MARK: MainActorInPlainLoad
// compiler: error: main actor-isolated subscript 'subscript(dynamicMember:)' can not be referenced from a nonisolated context
// Cure: conform to MainActorFeature, too, or keep what the load needs in a plain feature.

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

struct Printer: Feature {
    static func load(in container: any FeatureContainer) -> Printer {
        _ = container.screen
        return Printer()
    }
}

// MARK: MainActorIsolatedConformance
// compiler: error: cannot form main actor-isolated conformance of 'Screen' to SendableMetatype-inheriting protocol 'NonisolatedFeature' [#IsolatedConformances]
// Cure: conform to MainActorFeature.

@MainActor final class Screen { init() {} }

extension Screen: @MainActor Feature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

// MARK: MainActorIsolatedConformanceOfValue
// compiler: error: main actor-isolated conformance of 'Price' to 'Equatable' cannot be used in nonisolated context [#IsolatedConformances]
// Cure: declare the type outside of the main actor: `nonisolated struct Price: Equatable`, where that is the default isolation.

@MainActor struct Price: @MainActor Equatable, Sendable {
    nonisolated init() {}
}

extension ContainerKeys {
    var price: PropertyKey<Price> { .init(defaultValue: Price()) }
}

struct Till: Feature {
    let isFree: Bool
    static func load(in container: any FeatureContainer) -> Till { Till(isFree: container.price == Price()) }
}

// MARK: MainActorMethodInLoad
// compiler: error: call to main actor-isolated instance method 'name()' in a synchronous nonisolated context [#ActorIsolatedCall]
// Cure: conform to MainActorFeature, or mark the method `nonisolated`.

@MainActor final class Screen {
    nonisolated init() {}
    func name() -> String { "main" }
}

struct Device: Feature {
    let name: String
    static func load(in container: any FeatureContainer) -> Device { Device(name: Screen().name()) }
}

// MARK: MainActorNotSendable
// compiler: error: type 'any Weather' does not conform to the 'Sendable' protocol
// Cure: write `@MainActor protocol Weather: Sendable`; a class of the main actor is Sendable without a word.

@MainActor protocol Weather { func temperature(_ city: String) -> Int }

extension ContainerKeys {
    var weather: MainActorFeatureKey<any Weather> { .init { _ in fatalError() } }
}

// MARK: MainActorOffActor
// compiler: error: main actor-isolated subscript 'subscript(_:_:_:)' can not be referenced from a nonisolated context
// Cure: read it on the main actor: mark the function `@MainActor`.

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

func show(_ container: Container) { _ = container[Screen.self] }

// MARK: MainActorPlaceholder
// compiler: error: 'init(placeholder:load:)' is unavailable: a feature of the main actor has no placeholder; give a testValue, a closure
// Cure: write `.init(testValue: { _ in SilentVoice() }) { _ in SystemVoice() }`.

@MainActor final class Voice {}

extension ContainerKeys {
    var voice: MainActorFeatureKey<Voice> { .init(placeholder: Voice()) { _ in Voice() } }
}

// MARK: ModifyAsync
// compiler: error: 'modify' is unavailable: read the feature, change the copy, and use set(_:to:)
// Cure: write `container.set(Database.self, to: …)`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func change(_ container: Container) { container.modify(Database.self) { $0 = Database() } }

// MARK: NeverClosed
// program: Fugu: root (made at Mistake/NeverClosed.swift:12) was released without close(), so teardown closures of these never ran: Connection.
// Cure: call `close()` before you let the container go.

struct Connection: Feature {
    static func load(in container: any FeatureContainer) -> Connection {
        container.onClose {}
        return Connection()
    }
}

func serve() { _ = Container()[Connection.self] }

serve()

// MARK: NotAKey
// compiler: error: 'subscript(_:)' is unavailable: the type must conform to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature; if it does, what it gives isn't of the type that's expected here
// Cure: ask for a type that conforms to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature.

struct Mail {}

func read(_ container: Container) -> Mail { container[Mail.self] }

// MARK: NotWarmedUp
// program: Fugu: there is no loaded instance of Database.
// Cure: load it before: `try await container.warmUp { $0.load(Database.self) }`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users: Feature {
    static func load(in container: any FeatureContainer) -> Users {
        _ = container.loaded(Database.self)
        return Users()
    }
}

_ = Container()[Users.self]

// MARK: ObserverCountsInVariable
// compiler: error: mutation of captured var 'count' in concurrently-executing code [#SendableClosureCaptures]
// Cure: keep the count in an actor, a lock, or an atomic: observers are called on any thread.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func watch(_ container: Container) {
    var count = 0
    container.observe(\.timeout) { _ in count += 1 }
}

// MARK: ObserverOfMainActor
// compiler: error: main actor-isolated property 'text' can not be mutated from a Sendable closure
// Cure: follow `values(of:)` in a task.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

@MainActor final class Label { var text = "" }

@MainActor func watch(_ container: Container, _ label: Label) {
    container.observe(\.timeout) { label.text = "\($0)" }
}

// MARK: ObservableFeature
// compiler: error: type 'Model' does not conform to the 'Sendable' protocol
// Cure: conform to MainActorFeature, and mark the class `@MainActor`.

import Observation

@Observable final class Model: Feature {
    var count = 0
    static func load(in container: any FeatureContainer) -> Model { Model() }
}

// MARK: PlaceholderForgotten
// compiler: error: type 'Mail' does not conform to protocol 'External'
// Cure: add `static var placeholder`: what strict containers give in tests.

struct Mail: Feature, External {
    static func load(in container: any FeatureContainer) -> Mail { Mail() }
}

// MARK: PlainReadAfterClose
// program: Fugu: Greeter was loaded through a container after close() was called on it, or on one above.
// Cure: read it before `close()`, or use a container that is still open.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

let container = Container()
try await container.close()
_ = container[Greeter.self]

// MARK: PreviewNotPublic
// compiler: error: property 'preview' must be declared public because it matches a requirement in public protocol 'NonisolatedFeature'
// Cure: declare it `public`, or rename it.

/// Today's rates.
public struct Rates: Feature, Sendable {
    /// Loads them.
    public static func load(in container: any FeatureContainer) -> Rates { Rates() }
    static var preview: Rates { Rates() }
}

// MARK: PreviewOnMainActor
// compiler: error: conformance of 'Rates' to protocol 'NonisolatedFeature' crosses into main actor-isolated code and can cause data races [#ConformanceIsolation]
// Cure: declare it `nonisolated`, or rename it.

struct Rates: Feature {
    static func load(in container: any FeatureContainer) -> Rates { Rates() }
    @MainActor static var preview: Rates { Rates() }
}

// MARK: PropertyOfContainerGone
// program: Fugu: \.timeout was read after its container was released, so it gave its default.
// Cure: keep the container as long as what it made is used.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client: Feature {
    let container: any FeatureContainer
    static func load(in container: any FeatureContainer) -> Client { Client(container: container) }
}

func makeClient() -> Client { Container()[Client.self] }

print(makeClient().container.timeout)

// MARK: ProtocolNotSendable
// compiler: error: type 'any Weather' does not conform to the 'Sendable' protocol
// Cure: let the protocol inherit from Sendable: `protocol Weather: Sendable`.

protocol Weather { func temperature() -> Double }

enum WeatherFeature: Feature {
    static func load(in container: any FeatureContainer) -> any Weather { fatalError() }
}

// MARK: PublicStructNotSendable
// compiler: error: type 'Mail' does not conform to the 'Sendable' protocol
// Cure: write `public struct Mail: Feature, Sendable`; the compiler infers Sendable only for types that are not public.

/// Sends letters.
public struct Mail: Feature {
    /// Where they go.
    public var address = ""
    /// Creates one.
    public static func load(in container: any FeatureContainer) -> Mail { Mail() }
}

// MARK: ReadAfterClose
// program: Fugu: Document can't be loaded: the container is closed.
// Cure: read it before `close()`, or use a container that is still open.

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

let container = Container()
try await container.close()
do {
    _ = try container[Document.self]
} catch {
    print(error)
}

// MARK: Registered
// compiler: error: value of type 'Container' has no dynamic member 'register' using key path from root type 'ContainerKeys'
// Cure: conform the type to Feature and write how it is made in `load(in:)`; there is nothing to register.

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func begin(_ container: Container) { container.register(Greeter.self) { _ in Greeter() } }

// MARK: RuleReadsItsScope
// program: Fugu: a rule for scope /orders reads that scope while it is being configured.
// Cure: read from the container that the rule is given.

import FuguScopes

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

let api = Container()
api.configureScopes("/orders") { $0.timeout = api.scope("/orders").timeout + 1 }
print(api.scope("/orders").timeout)

// MARK: RuleSetsFeature
// compiler: error: 'subscript(dynamicMember:)' is unavailable: a PropertyContainer, such as a rule's, has no features; set what they read
// Cure: set a property, and let the feature read it, so that each scope has its own instance.

import FuguScopes

struct Mail: Feature {
    var pending: [String]
    static func load(in container: any FeatureContainer) -> Mail { Mail(pending: []) }
}

extension ContainerKeys {
    var mail: FeatureKey<Mail> { .init(Mail.self) }
}

func configure(_ container: Container) { container.configureScopes { $0.mail.pending = ["a"] } }

// MARK: RuleSetsFeatureByType
// compiler: error: 'subscript(_:)' is unavailable: a PropertyContainer, such as a rule's, has no features; set what they read
// Cure: set a property, and let the feature read it, so that each scope has its own instance.

import FuguScopes

struct Mail: Feature {
    static func load(in container: any FeatureContainer) -> Mail { Mail() }
}

func configure(_ container: Container) { container.configureScopes { $0[Mail.self] = Mail() } }

// MARK: SetAsync
// compiler: error: 'subscript(_:_:)' is unavailable: use set(_:to:)
// Cure: write `container.set(Database.self, to: Database())`.

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func set(_ container: Container) { container[Database.self] = Database() }

// MARK: SetInLoad
// program: Fugu: Client changes \.timeout while it loads, when its container can only be read.
// Cure: set it before, or later through a container that was kept.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client: Feature {
    static func load(in container: any FeatureContainer) -> Client {
        container.timeout = 5
        return Client()
    }
}

_ = Container()[Client.self]

// MARK: SetThrowing
// compiler: error: 'subscript(_:_:)' is unavailable: use set(_:to:)
// Cure: write `container.set(Document.self, to: Document())`.

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

func set(_ container: Container) { container[Document.self] = Document() }

// MARK: SharedOverridden
// program: Fugu: Database has the home .shared, but was read in a child container that overrides its input \.requestID.
// Cure: let the database read a logger that knows nothing of requests.

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct Logger: Feature {
    let id: Int
    static func load(in container: any FeatureContainer) -> Logger { Logger(id: container.requestID) }
}

struct Database: Feature {
    static var home: Home { .shared }
    static func load(in container: any FeatureContainer) -> Database {
        _ = container[Logger.self]
        return Database()
    }
}

let server = Container()
_ = server.child { $0.requestID = 7 }[Database.self]

// MARK: SharedReadsLocal
// program: Fugu: Receipts has the home .shared, but is made from Cart, which has the home .local: each container has its own.
// Cure: pass the cart to the functions of the receipts.

final class Cart: Feature, Sendable {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) -> Cart { Cart() }
}

struct Receipts: Feature {
    static var home: Home { .shared }
    let cart: Cart
    static func load(in container: any FeatureContainer) -> Receipts { Receipts(cart: container[Cart.self]) }
}

_ = Container().child()[Receipts.self]

// MARK: StaticForgotten
// compiler: error: type 'UserName' does not conform to protocol 'Property'
// Cure: write `static var defaultValue`.

struct UserName: Property {
    var defaultValue: String { "guest" }
}

// MARK: StaticForgottenInLoad
// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: write `static func load(in:)`.

struct Greeter: Feature {
    func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

// MARK: StrictWithoutImport
// compiler: error: instance member 'strict' cannot be used on type 'Container'; did you mean to use a value of this type instead?
// Cure: import FuguTesting, and link it to the test target.

func inTest() {
    Container.strict { _ in
    } operation: {
    }
}

// MARK: TestValueIsNoClosure
// compiler: error: cannot convert value of type 'Mail' to expected argument type '@Sendable (any FeatureContainer) -> Mail'
// Cure: write `testValue: { _ in Mail() }`: each test has its own.

struct Mail: Sendable {}

extension ContainerKeys {
    var mail: FeatureKey<Mail> { .init(testValue: Mail()) { _ in Mail() } }
}

// MARK: TraitWithValue
// compiler: error: 'container' is unavailable: set the value in a closure, as in .container { $0.timeout = 3 }
// Cure: write `.container { $0.timeout = 3 }`.

import FuguTesting

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

let trait: ContainerTrait = .container(\.timeout, 3)

// MARK: TraitWithoutImport
// compiler: error: reference to member 'container' cannot be resolved without a contextual type
// Cure: import FuguTesting, and link it to the test target.

import Testing

@Test(.container) func waits() {}

// MARK: TryForgotten
// compiler: error: subscript access can throw, but it is not marked with 'try' and the error is not handled
// Cure: write `try container[Document.self]`.

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

func open(_ container: Container) -> Document { container[Document.self] }

// MARK: UnimplementedCalled
// program: Fugu: Audio.volume was called, but it isn't implemented.
// Cure: give the double a closure for it.

struct Audio: Sendable {
    var volume: @Sendable () -> Double = unimplemented("Audio.volume", placeholder: 0)
}

print(Audio().volume())

// MARK: UnimplementedWithoutPlaceholder
// compiler: error: 'unimplemented' is unavailable: the closure can't throw; say what a call returns: unimplemented(…, placeholder: …)
// Cure: give the value that the call returns: `unimplemented("Audio.volume", placeholder: 0)`.

struct Audio: Sendable {
    var volume: @Sendable () -> Double
}

let audio = Audio(volume: unimplemented("Audio.volume"))

// MARK: ValueOfWrongType
// compiler: error: cannot assign value of type 'String' to type 'Int'
// Cure: set a value of the type that the key declares.

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func set(_ container: Container) { container.timeout = "5" }

// MARK: WrongValueInFile
// program: app.json:1:21: server.port: expected Int, found bool true
// Cure: write a number in the file; `require` throws the same instead of giving the default.

import FuguConfiguration

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
}

let container = Container()
try container.apply(JSONSource(text: #"{"server": {"port": true}}"#, name: "app.json"))
print(container.port)
