import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguLoadStates
import FuguScopes
import FuguTesting

// What the code in documentation comments takes for granted.

let container = Container()
let server = Container()
let local = Container()
let clock = ManualClock()
let keys = (0..<3).map { PropertyKey(defaultValue: 0, id: $0) }
let id = 7
let data = Data()
let url = URL(filePath: "/tmp/data")
let expected = ""
let logger = Logger()
@MainActor let map = Map()
let poller = Poller()

func reload() {}
func redraw() {}
func refresh() async {}
func respond(in container: Container) async throws {}
func show(_ state: LoadState<Weather>) {}

struct Logger: Sendable { func warning(_ text: String) {} }
struct Poller: Sendable { func run() async throws {} }
final class Map: Configurable { var configuration = Container() }

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init("timeout", defaultValue: 30) }
    var host: PropertyKey<String> { .init("host", defaultValue: "localhost") }
    var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
    var password: PropertyKey<String> { .init("password", defaultValue: "", isSecret: true) }
    var userName: PropertyKey<String> { .init(defaultValue: "guest") }
    var city: PropertyKey<String> { .init(defaultValue: "Oslo") }
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
    var certificate: PropertyKey<String?> { .init("tls.certificate") }
    var privateKey: PropertyKey<String?> { .init("tls.key") }
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
    var paymentsURL: PropertyKey<String> { .init(defaultValue: "") }
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

// Properties.

enum UserName: Property { static var defaultValue: String { "guest" } }
enum RequestID: Property { static var defaultValue: Int { 0 } }
extension ContainerKeys {
    var credentialsKey: PropertyKey<String> { .init("credentials", defaultValue: "") }
}
extension ContainerKeys {
    var retriesKey: PropertyKey<Int> { .init("retries", defaultValue: 3) }
}
enum Theme: String, Codable { case light, dark }

// Features.

struct Greeter: Feature {
    var name = ""
    func greet() {}
    static func load(in _: any FeatureContainer) -> Greeter { Greeter() }
}
struct Audio: Feature, External {
    var play: @Sendable (_ song: String) async throws -> Void
    var volume: @Sendable () -> Double
    static func load(in _: any FeatureContainer) -> Audio { placeholder }
    static var placeholder: Audio { Audio(play: { _ in }, volume: { 0 }) }
}
struct WeatherClient: Feature, External {
    var degrees: @Sendable (_ city: String) -> Int
    static func load(in _: any FeatureContainer) -> WeatherClient { placeholder }
    static var placeholder: WeatherClient { WeatherClient { _ in 0 } }
}
struct Weather: AsyncFeature {
    static func load(in _: any FeatureContainer) async throws -> Weather { Weather() }
}
struct Database: AsyncFeature {
    func invoices() async throws -> [String] { [] }
    static func load(in _: any FeatureContainer) async throws -> Database { Database() }
}
struct Search: AsyncFeature {
    static let unavailable = Search()
    static func load(in _: any FeatureContainer) async throws -> Search { Search() }
}
struct Pool: AsyncFeature {
    static func load(in _: any FeatureContainer) async throws -> Pool { Pool() }
}
struct Log: Feature { static func load(in _: any FeatureContainer) -> Log { Log() } }
struct Session: Feature { static func load(in _: any FeatureContainer) -> Session { Session() } }
struct Report: Feature { static func load(in _: any FeatureContainer) -> Report { Report() } }
struct Handlers: Feature { static func load(in _: any FeatureContainer) -> Handlers { Handlers() } }
func limit(of user: String) -> PropertyKey<Int> { PropertyKey(defaultValue: 10, id: user) }
@MainActor protocol SpeechService: Sendable { func say(_ text: String) }
@MainActor final class SystemSpeech: SpeechService {
    init(greeting: String) {}
    func say(_ text: String) {}
}
@MainActor final class Label { var text = "" }
@MainActor let label = Label()
@MainActor final class Screen: MainActorFeature { static func load(in _: any FeatureContainer) -> Screen { Screen() } }

protocol MailService: Sendable { func send(_ text: String) }
enum Mailer: Feature { static func load(in _: any FeatureContainer) -> any MailService { SMTPMailer() } }
struct SMTPMailer: MailService { func send(_ text: String) {} }
struct LoggingMailer: MailService {
    init(_ mailer: any MailService, log: Log) {}
    func send(_ text: String) {}
}

protocol LinkRepository: Sendable {}
enum LinkStore: Feature { static func load(in _: any FeatureContainer) -> any LinkRepository { SQLLinks() } }
struct SQLLinks: LinkRepository {}
struct InMemoryLinks: LinkRepository {}
struct Route: Sendable { init(_ path: String, store: (any LinkRepository)? = nil) {} }

/// Public, since a block declares something public with it.
public protocol PaymentService: Sendable {}
struct UnimplementedPayments: PaymentService {}
struct CardPayments: PaymentService { init(url: String) {} }
struct FreePayments: PaymentService {}
extension ContainerKeys {
    var payments: FeatureKey<any PaymentService> { .required(placeholder: UnimplementedPayments()) }
}

// Sources.

struct RemoteFlags: AsyncPropertySource {
    init(_ url: URL) {}
    var name: String { "flags" }
    func fetch() async throws -> PropertySnapshot { fatalError() }
}
struct MySource: PropertySource {
    var name: String { "mine" }
    func load() throws(PropertyError) -> PropertySnapshot { fatalError() }
}

// Views and tests.

struct Ping { var answers: Bool { get throws { true } } }
struct Forecast: View {
    nonisolated var text: String { "" }
    nonisolated init() {}
    init(_ weather: Weather) {}
    var body: some View { Text("") }
}
struct ProgressView: Primitive {}
struct Stepper: Primitive { init(_ title: String, value: Binding<Int>) {} }
