//! Assets of drawn things, overwritten where they lie, so that a new snapshot needs no new handles.
//! Must not know what is drawn.

use super::ColorBar;
use bevy::asset::RenderAssetUsages;
use bevy::mesh::PrimitiveTopology;
use bevy::prelude::*;

/// Puts an asset in the place of the one before it, or makes the first.
pub fn put<A: Asset>(assets: &mut Assets<A>, kept: &mut Option<Handle<A>>, asset: A) -> Handle<A> {
    let kept = kept.get_or_insert_with(|| assets.reserve_handle());
    // Only a handle whose asset was removed cannot be written to; ours are held, and never removed.
    if assets.insert(kept.id(), asset).is_err() {
        *kept = Handle::default();
    }
    kept.clone()
}

/// A mesh of triangles; the main world keeps a copy only if somebody shall find it there (to pick it).
pub fn triangles(pickable: bool) -> Mesh {
    let usage = if pickable { RenderAssetUsages::default() } else { RenderAssetUsages::RENDER_WORLD };
    Mesh::new(PrimitiveTopology::TriangleList, usage)
}

/// Shows or hides the entity of a drawn thing, and keeps its colour bar while there is something to explain.
pub fn explain(
    commands: &mut Commands,
    entity: Entity,
    visibility: &mut Mut<Visibility>,
    shown: bool,
    bar: Option<ColorBar>,
) {
    visibility.set_if_neq(if shown { Visibility::Inherited } else { Visibility::Hidden });
    match bar {
        Some(bar) => commands.entity(entity).insert(bar),
        None => commands.entity(entity).remove::<ColorBar>(),
    };
}
