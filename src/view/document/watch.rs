//! Looks whether the open file has changed, on a thread of its own, four times a second.
//! Must not know what is in the file.
//!
//! Bevy's own watcher watches folders with all that is below them. A scene may lie in a home folder with a million
//! files, or on a network drive that tells nothing; and editors that write another file and rename it defeat a watch on
//! the file itself. Time and length of one file are right everywhere, and cost microseconds.

use bevy::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

const INTERVAL: Duration = Duration::from_millis(250);

/// Time of the last change and length; `None` while there is no file.
type Stamp = Option<(SystemTime, u64)>;

#[derive(Debug, Default)]
struct Looked {
    path: Option<PathBuf>,
    /// As last told; `None` before anything was.
    told: Option<Stamp>,
    /// As last seen.
    seen: Option<Stamp>,
    changed: bool,
}

/// The watch over the open file. The thread ends with it.
#[derive(Debug, Resource)]
pub(super) struct Watch(Arc<Mutex<Looked>>);

impl Watch {
    /// Starts the thread; if there is none to be had, changes are not seen, and the file can still be opened again.
    pub(super) fn start() -> Self {
        let shared = Arc::new(Mutex::new(Looked::default()));
        let weak = Arc::downgrade(&shared);
        if let Err(error) =
            std::thread::Builder::new().name("knudsen-watch".into()).spawn(move || watch(&weak))
        {
            warn!("changes of the scene file will not be seen, since there is no thread to be had: {error}");
        }
        Self(shared)
    }

    /// Looks at this file from now on, and says once that it changed: nobody knows what happened since it was read.
    pub(super) fn look_at(&self, path: Option<&Path>) {
        let mut looked = lock(&self.0);
        *looked = Looked { path: path.map(Path::to_path_buf), ..Looked::default() };
    }

    /// The file, once for every change of it.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        let mut looked = lock(&self.0);
        std::mem::take(&mut looked.changed).then(|| looked.path.clone()).flatten()
    }
}

fn lock(shared: &Mutex<Looked>) -> std::sync::MutexGuard<'_, Looked> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(shared: &Weak<Mutex<Looked>>) {
    loop {
        // Neither lock nor owner is held while the disk is asked: it may be asleep, and a frame may come.
        let Some(path) = shared.upgrade().map(|shared| lock(&shared).path.clone()) else { return };
        let stamp: Option<Stamp> = path.as_ref().map(|path| {
            std::fs::metadata(path).ok().and_then(|file| Some((file.modified().ok()?, file.len())))
        });
        {
            let Some(shared) = shared.upgrade() else { return };
            let mut looked = lock(&shared);
            if looked.path == path && stamp.is_some() {
                // Only what has stood for a while: editors write in pieces. A missing file is about to be replaced.
                let stands = looked.seen == stamp && stamp != Some(None);
                if stands && looked.told != stamp {
                    looked.told = stamp;
                    looked.changed = true;
                }
                looked.seen = stamp;
            }
        }
        std::thread::sleep(INTERVAL);
    }
}
