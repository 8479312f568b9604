//! RocketMQ remoting frames and headers: bytes in, commands out, and back.
