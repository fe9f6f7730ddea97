#pragma once
#include "common.cuh"
struct WallsView { u64 addresses[16]; };
