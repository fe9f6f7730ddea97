//! Obstacles on the grid: triangles per cell, gas volumes of cut cells, inside test, exact hits.
//! Knows nothing of gases or walls' laws of reflection.
