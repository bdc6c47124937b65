// So that the compiler takes a function without a body.
