//! Guest programs for tests and examples.
