//! Encode.
