// Nothing is to be called: linking the target is enough.
