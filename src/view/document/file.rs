//! The file of the open scene: loaded through the asset server, loaded again when it changes, written as a whole.
//! Must not know how a scene is edited.

use super::edit::{Edits, finish, judge, replace, show_problems};
use super::orders::say;
use super::watch::Watch;
use super::{Document, collect, open, spawn};
use crate::output::file::write_whole;
use crate::scene::{Model, Part, Problem, Scene, SceneError, Shape, parse, to_ron};
use bevy::asset::io::{AssetReaderError, Reader};
use bevy::asset::{
    AssetLoadError, AssetLoadFailedEvent, AssetLoader, AssetMetaCheck, AssetPath, AsyncReadExt, LoadContext,
    UnapprovedPathMode,
};
use bevy::ecs::message::MessageCursor;
use bevy::prelude::*;
use std::path::{Component as Segment, Path, PathBuf};

/// Bytes of a scene file at most: whoever drops something else is told so before it is read.
const MAX_BYTES: u64 = 1 << 20;

/// A scene file as an asset.
#[derive(Debug, Clone, PartialEq, Asset, TypePath)]
pub struct SceneFile(pub Scene);

/// The asset plugin that the document needs: scenes lie anywhere on the disk, and changes are looked for by
/// [`Watch`], not by watching whole folders. To be set on `DefaultPlugins`.
pub fn asset_plugin() -> AssetPlugin {
    AssetPlugin {
        unapproved_path_mode: UnapprovedPathMode::Deny,
        watch_for_changes_override: Some(false),
        meta_check: AssetMetaCheck::Never,
        ..default()
    }
}

#[derive(Default, TypePath)]
struct SceneLoader;

impl AssetLoader for SceneLoader {
    type Asset = SceneFile;
    type Settings = ();
    type Error = SceneError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<SceneFile, SceneError> {
        let path = context.path().path().to_path_buf();
        let name = path.display().to_string();
        let fail = |message: String| SceneError::from(Problem::unplaced(&name, "file", message));
        let mut bytes = Vec::new();
        reader
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .await
            .map_err(|error| fail(format!("cannot be read ({error}): check the disk and the path")))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(fail("more than 1 MiB, which no scene is: name a scene file (.ron)".into()));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| fail("not UTF-8 text: name a scene file (.ron), or save it as UTF-8".into()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        parse(&text, &name, folder).map(SceneFile)
    }

    fn extensions(&self) -> &[&str] {
        &["ron"]
    }
}

/// What is loaded and being loaded.
#[derive(Default, Resource)]
pub(super) struct Files {
    /// The file of the open scene; `None` until it was loaded again, or opened here.
    current: Option<Handle<SceneFile>>,
    /// The file that is being opened.
    opening: Option<(Handle<SceneFile>, PathBuf)>,
    /// Whether the next load of the current file counts even if the file is as it was saved.
    revert: bool,
    loaded: MessageCursor<AssetEvent<SceneFile>>,
    failed: MessageCursor<AssetLoadFailedEvent<SceneFile>>,
}

pub(super) fn plugin(app: &mut App) {
    if !app.is_plugin_added::<AssetPlugin>() {
        app.add_plugins(asset_plugin());
    }
    app.init_asset::<SceneFile>().init_asset_loader::<SceneLoader>().init_resource::<Files>();
    app.insert_resource(Watch::start());
}

/// From now on this is the open file: its changes are looked for.
pub(super) fn watch(world: &mut World, path: Option<&Path>) {
    world.resource_mut::<Files>().current = None;
    world.resource::<Watch>().look_at(path);
}

/// Begins to open a scene file, or to read the open one again.
pub(super) fn open_scene(world: &mut World, path: &Path) {
    let path = absolute(path);
    if world.resource::<Document>().path.as_ref() == Some(&path) {
        world.resource_mut::<Files>().revert = true;
        return load_again(world, &path);
    }
    let handle = load(world, &path);
    if world.resource::<Assets<SceneFile>>().contains(&handle) {
        // It was open before and has not been let go yet: loading would say nothing new.
        world.resource::<AssetServer>().reload(AssetPath::from_path_buf(path.clone()));
    }
    world.resource_mut::<Files>().opening = Some((handle, path));
}

fn load(world: &World, path: &Path) -> Handle<SceneFile> {
    let path = AssetPath::from_path_buf(path.to_path_buf());
    world.resource::<AssetServer>().load_builder().override_unapproved().load(path)
}

fn load_again(world: &mut World, path: &Path) {
    if world.resource::<Files>().current.is_some() {
        world.resource::<AssetServer>().reload(AssetPath::from_path_buf(path.to_path_buf()));
    } else {
        let handle = load(world, path);
        world.resource_mut::<Files>().current = Some(handle);
    }
}

/// Takes in what was loaded, and loads again what has changed.
pub(super) fn look_after(world: &mut World) {
    if let Some(path) = world.resource::<Watch>().changed() {
        load_again(world, &path);
    }
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    world.resource_scope(|world, mut files: Mut<Files>| {
        for event in files.loaded.read(world.resource::<Messages<AssetEvent<SceneFile>>>()) {
            if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
                good.push(*id);
            }
        }
        for event in files.failed.read(world.resource::<Messages<AssetLoadFailedEvent<SceneFile>>>()) {
            bad.push((event.id, problems(event)));
        }
    });
    for (id, problems) in bad {
        failed(world, id, problems);
    }
    for id in good {
        let scene = world.resource::<Assets<SceneFile>>().get(id).map(|file| file.0.clone());
        if let Some(scene) = scene {
            loaded(world, id, scene);
        }
    }
}

fn loaded(world: &mut World, id: AssetId<SceneFile>, scene: Scene) {
    let mut files = world.resource_mut::<Files>();
    if let Some((handle, path)) = files.opening.take_if(|(handle, _)| handle.id() == id) {
        open(world, scene, Some(&path));
        world.resource_mut::<Files>().current = Some(handle);
        let kept = path.with_extension("unsaved.ron");
        if kept.exists() {
            say(world, format!("there are unsaved edits of earlier: open {} to see them", kept.display()));
        }
    } else if files.current.as_ref().is_some_and(|handle| handle.id() == id) {
        let revert = std::mem::take(&mut files.revert);
        world.resource_mut::<Edits>().file.clear();
        if revert || scene != world.resource::<Document>().saved {
            replace(world, scene.clone());
            world.resource_mut::<Document>().saved = scene;
        }
        show_problems(world);
    }
}

fn failed(world: &mut World, id: AssetId<SceneFile>, problems: Vec<Problem>) {
    let mut files = world.resource_mut::<Files>();
    if let Some((_, path)) = files.opening.take_if(|(handle, _)| handle.id() == id) {
        // The open scene has none of them: the next edit takes them from view.
        judge(world, problems);
        say(world, format!("{} was not opened: see its problems", path.display()));
    } else if files.current.as_ref().is_some_and(|handle| handle.id() == id) {
        files.revert = false;
        world.resource_mut::<Edits>().file = problems;
        show_problems(world);
    }
}

/// Our own problems as they were found, or one for what happened before the file was read.
fn problems(event: &AssetLoadFailedEvent<SceneFile>) -> Vec<Problem> {
    let file = event.path.path().display().to_string();
    let message = match &event.error {
        AssetLoadError::AssetLoaderError(error) => {
            if let Some(error) = error.error().downcast_ref::<SceneError>() {
                return error.problems.clone();
            }
            error.to_string()
        }
        AssetLoadError::AssetReaderError(AssetReaderError::NotFound(_)) => {
            "there is no such file: check the path, or open a shipped scene".into()
        }
        AssetLoadError::AssetReaderError(AssetReaderError::Io(error)) => {
            format!("cannot be read ({error}): check the path and its permissions")
        }
        other => format!("{other}: open another file"),
    };
    vec![Problem::unplaced(file, "file", message)]
}

/// Writes the scene to its file.
pub(super) fn save(world: &mut World) {
    match world.resource::<Document>().path.clone() {
        Some(path) => write(world, &path),
        None => say(world, "this scene has no file yet: save it under a name"),
    }
}

/// Writes the scene to this file from now on.
pub(super) fn save_as(world: &mut World, path: &Path) {
    let path = absolute(path);
    write(world, &if path.extension().is_some() { path } else { path.with_extension("ron") });
}

fn write(world: &mut World, path: &Path) {
    finish(world);
    let Some(scene) = collect(world) else { return };
    let document = world.resource::<Document>();
    if scene != document.scene {
        return say(world, "not saved: mend the problems of the scene first");
    }
    let scene = relocated(scene, path.parent().unwrap_or(Path::new(".")));
    // `to_ron` keeps no comments, and what someone else wrote there is not ours to lose.
    let stranger = document.path.as_deref() != Some(path) || !world.resource::<Edits>().file.is_empty();
    let commented =
        || std::fs::read_to_string(path).is_ok_and(|text| text.contains("//") || text.contains("/*"));
    if path.is_file() && (stranger || commented()) {
        let kept = numbered(&path.with_extension("before"), "ron");
        if let Err(error) = std::fs::copy(path, &kept) {
            return say(
                world,
                format!(
                    "not saved: what is in {} now could not be kept ({error}): save under another name",
                    path.display()
                ),
            );
        }
        say(world, format!("the file as it was, with its comments, is now {}", kept.display()));
    }
    match write_whole(path, |to| to.write_all(to_ron(&scene).as_bytes())) {
        Ok(path) => {
            spawn(world, &scene);
            watch(world, Some(&path));
            world.resource_mut::<Edits>().file.clear();
            show_problems(world);
            let mut document = world.resource_mut::<Document>();
            document.scene = scene.clone();
            document.saved = scene;
            document.path = Some(path.clone());
            say(world, format!("saved {}", path.display()));
        }
        Err(error) => say(world, format!("not saved: {error}")),
    }
}

/// Writes edits that no file has beside the file, before they would be lost.
pub(super) fn keep_unsaved(world: &mut World) {
    let Some(scene) = collect(world) else { return };
    let document = world.resource::<Document>();
    if scene == document.saved {
        return;
    }
    let stem = document.path.as_ref().and_then(|path| path.file_stem()).map(|stem| stem.to_os_string());
    let stem = stem.unwrap_or_else(|| scene.name.replace(['/', '\\'], "_").into());
    let own = document.path.as_ref().and_then(|path| path.parent()).unwrap_or(&scene.folder).to_path_buf();
    let mut told = None;
    for folder in [own, absolute(Path::new(".")), std::env::temp_dir()] {
        let scene = relocated(scene.clone(), &folder);
        let target = numbered(&folder.join(&stem).with_extension("unsaved"), "ron");
        match write_whole(&target, |to| to.write_all(to_ron(&scene).as_bytes())) {
            Ok(path) => return say(world, format!("unsaved edits are kept in {}", path.display())),
            Err(error) => told = Some(error),
        }
    }
    if let Some(error) = told {
        say(world, format!("unsaved edits could not be kept: {error}"));
    }
}

/// As [`keep_unsaved`], when the app ends.
pub(super) fn keep_at_the_end(world: &mut World) {
    keep_unsaved(world);
}

/// `base.ending`, or the first `base-2.ending`, `base-3.ending`, ... that is free.
fn numbered(base: &Path, ending: &str) -> PathBuf {
    let name = base.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = |number: u32| match number {
        1 => base.with_file_name(format!("{name}.{ending}")),
        number => base.with_file_name(format!("{name}-{number}.{ending}")),
    };
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}

/// The path from the root on; as it is where the system does not say where we are.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.components().filter(|part| *part != Segment::CurDir).collect()
}

/// A path as seen from a folder, with `/` in between, if they have a folder in common; else the path itself. `None` if
/// it is no UTF-8. Both are absolute.
pub(super) fn relative(path: &Path, folder: &Path) -> Option<String> {
    let (to, from): (Vec<Segment>, Vec<Segment>) =
        (path.components().collect(), folder.components().collect());
    let common = to.iter().zip(&from).take_while(|(one, other)| one == other).count();
    let rest = || from[common..].iter().chain(&to[common..]);
    let plain = rest().all(|part| matches!(part, Segment::Normal(_)));
    let shared = to[..common].iter().any(|part| matches!(part, Segment::Normal(_)));
    if !(plain && shared) {
        return path.to_str().map(str::to_string);
    }
    let up = std::iter::repeat_n(Some(".."), from.len() - common);
    let down = to[common..].iter().map(|part| part.as_os_str().to_str());
    up.chain(down).collect::<Option<Vec<&str>>>().map(|parts| parts.join("/"))
}

/// The scene in another folder: its triangle files stay where they are.
fn relocated(mut scene: Scene, folder: &Path) -> Scene {
    fn shape(of: &mut Shape, old: &Path, new: &Path) {
        match of {
            Shape::Mesh { file, .. } => {
                if let Some(seen) = relative(&absolute(&old.join(&*file)), new) {
                    *file = seen;
                }
            }
            Shape::Group { parts } => {
                parts.iter_mut().for_each(|Part { shape: one, .. }| shape(one, old, new))
            }
            _ => {}
        }
    }
    let (old, new) = (absolute(&scene.folder), absolute(folder));
    if old != new {
        let Model::Gas(gas) = &mut scene.model;
        gas.obstacles.iter_mut().for_each(|obstacle| shape(&mut obstacle.shape, &old, &new));
        scene.folder = new;
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_seen_from_a_folder() {
        let seen = |path: &str, folder: &str| relative(Path::new(path), Path::new(folder)).expect("UTF-8");
        assert_eq!(seen("/a/b/c.stl", "/a/b"), "c.stl");
        assert_eq!(seen("/a/b/d/c.stl", "/a/b"), "d/c.stl");
        assert_eq!(seen("/a/x/c.stl", "/a/b"), "../x/c.stl");
        assert_eq!(seen("/x/c.stl", "/a/b"), "/x/c.stl");
        assert_eq!(seen("/a/x/c.stl", "/a/../a/b"), "/a/x/c.stl");
    }
}
