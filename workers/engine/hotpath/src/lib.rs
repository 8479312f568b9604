//! One client connection as a state machine: bytes in, answers and cold requests out.
