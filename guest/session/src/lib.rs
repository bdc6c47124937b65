//! Both sides of a connection to a Witlock store as pure state machines.
#![no_std]
