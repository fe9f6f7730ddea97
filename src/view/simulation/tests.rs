//! Tests of the simulation in the app.
