//! What values of a scene are possible.
//! Must not know devices or running state.
