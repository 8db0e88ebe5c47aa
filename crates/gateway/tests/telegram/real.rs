//! With a real test server.
