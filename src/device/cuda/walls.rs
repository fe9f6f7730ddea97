//! TEMPORARY stand-in until the walls land.
//! Knows nothing.
use super::CudaError;
use super::gas::Array;
use crate::physics::geometry::Walls;
use crate::physics::grid::Grid;
use bytemuck::{Pod, Zeroable};
use cudarc::driver::CudaStream;
use std::sync::Arc;
/// View.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct WallsView {
    addresses: [u64; 16],
}
/// Host.
#[derive(Debug)]
pub struct HostWalls;
impl HostWalls {
    /// New.
    pub fn new(_walls: &Walls) -> Self {
        Self
    }
}
/// Device.
#[derive(Debug)]
pub struct DeviceWalls(Option<Array>);
impl DeviceWalls {
    /// Up.
    pub fn upload(_: &Arc<CudaStream>, _: &HostWalls, _: &Grid) -> Result<Self, CudaError> {
        Ok(Self(None))
    }
    /// View.
    pub fn view(&self) -> WallsView {
        WallsView::default()
    }
}
