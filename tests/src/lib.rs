//! The contract of Witlock, on every face.
