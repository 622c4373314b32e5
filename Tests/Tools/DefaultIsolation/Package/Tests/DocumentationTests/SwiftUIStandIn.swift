// Where there is no SwiftUI, this takes its place, so that the snippets with views are type-checked. It declares what they use with
// SwiftUI's signatures, shows nothing, and keeps no state.
#if !canImport(SwiftUI)
import Observation

@MainActor protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    var body: Never { fatalError("a view of views has no body") }
}

protocol Primitive: View where Body == Never {}
extension Primitive {
    var body: Never { fatalError("a primitive view has no body") }
}

@MainActor @resultBuilder struct ViewBuilder {
    static func buildBlock<V: View>(_ view: V) -> V { view }
    // All branches of the page have the same type.
    static func buildEither<V: View>(first view: V) -> V { view }
    static func buildEither<V: View>(second view: V) -> V { view }
    static func buildBlock<V: View, W: View>(_ first: V, _ second: W) -> Pair<V, W> {
        Pair(first: first, second: second)
    }
}

struct Pair<First: View, Second: View>: Primitive {
    let first: First
    let second: Second
}

struct Text: Primitive {
    let text: String
    init(_ text: String) { self.text = text }
}

struct TextField: Primitive {
    let title: String
    let text: Binding<String>
    init(_ title: String, text: Binding<String>) {
        self.title = title
        self.text = text
    }
}

struct WithObject<Content: View, Object: AnyObject & Observable>: Primitive {
    let content: Content
    let object: Object?
}

extension View {
    func environment<T: AnyObject & Observable>(_ object: T?) -> some View { WithObject(content: self, object: object) }
}

@MainActor protocol Scene {}
@MainActor protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

struct WindowGroup<Content: View>: Scene {
    let content: Content
    init(@ViewBuilder content: () -> Content) { self.content = content() }
}

protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]

    subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

@propertyWrapper struct Environment<Value> {
    let wrappedValue: Value

    init(_ keyPath: KeyPath<EnvironmentValues, Value>) { wrappedValue = EnvironmentValues()[keyPath: keyPath] }
    init(_ type: Value.Type) where Value: AnyObject & Observable { fatalError("nothing is in the environment") }
}

@MainActor @propertyWrapper struct State<Value> {
    var wrappedValue: Value
    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@MainActor @propertyWrapper struct Binding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }

    init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get
        self.set = set
    }
}

@MainActor @dynamicMemberLookup @propertyWrapper struct Bindable<Value: AnyObject & Observable> {
    let wrappedValue: Value
    var projectedValue: Bindable<Value> { self }

    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding {
            wrappedValue[keyPath: keyPath]
        } set: {
            wrappedValue[keyPath: keyPath] = $0
        }
    }
}
#endif
