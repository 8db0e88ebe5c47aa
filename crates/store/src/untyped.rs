//! Values without their type, for code that only hands them on: it is compiled once instead of once for each type.

use std::any::Any;

/// A value whose type only its sender and its receiver know.
pub(crate) type Untyped = Box<dyn Any + Send>;

/// Takes the type away.
pub(crate) fn untyped<V: Send + 'static>(value: V) -> Untyped {
    Box::new(value)
}

/// Gives the type back.
pub(crate) fn typed<V: 'static>(value: Untyped) -> V {
    *value.downcast().expect("BUG: the receiver knows the type that was sent")
}
