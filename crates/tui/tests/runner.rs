//! All tests of the face, in one binary.
