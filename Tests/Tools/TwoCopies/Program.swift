import Glibc

// Loads two libraries, sets the name through the first, and prints what the second sees.
@main
struct Program {
    static func main() {
        let libraries = CommandLine.arguments.dropFirst().map { path in
            guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { fatalError(String(cString: dlerror())) }
            return library
        }
        call("set_name", in: libraries[0])
        call("print_name", in: libraries[1])
    }

    private static func call(_ name: String, in library: UnsafeMutableRawPointer) {
        unsafeBitCast(dlsym(library, name)!, to: (@convention(c) () -> Void).self)()
    }
}
