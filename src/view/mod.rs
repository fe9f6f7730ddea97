//! The window, in Bevy. Empty in this version: the command line says so.
//! Must not know devices or physics.
