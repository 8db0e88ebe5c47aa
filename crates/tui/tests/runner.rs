//! All tests of the UI, in one binary.
