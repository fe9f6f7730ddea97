//! Editing the bookmarks and key frames of a scene.
//! Must not know Bevy's world: it changes plain values, and refuses what a scene file may not hold.

use crate::scene::{Bookmark, Camera, KeyFrame, View};
use thiserror::Error;

/// Seconds from one key frame to the next, where nobody says otherwise.
const KEY_SPACING_S: f64 = 3.0;

/// Why a bookmark or key frame stays as it is.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MarkError {
    /// Empty, or with line breaks.
    #[error("a bookmark is chosen by its name: type one, without line breaks")]
    NoName,
    /// Another bookmark has this name.
    #[error("there is a bookmark {0:?} already: choose another name, or delete that one")]
    Taken(String),
    /// There is none of this number.
    #[error("there is no bookmark or key frame of number {0}: it may have been deleted; choose another")]
    Gone(usize),
    /// Not a time of a video.
    #[error("a key frame cannot be at {0} s: give a time from 0 s on that no other key frame has")]
    Time(f64),
}

/// Adds a bookmark, under a free name where none is given; returns its number.
///
/// # Errors
/// The name is empty or taken.
pub fn add_bookmark(view: &mut View, camera: Camera, name: Option<&str>) -> Result<usize, MarkError> {
    let name = match name {
        Some(name) => good_name(view, name, None)?,
        None => (view.bookmarks.len() + 1..)
            .map(|n| format!("view {n}"))
            .find(|name| view.bookmarks.iter().all(|other| other.name.trim() != name))
            .ok_or(MarkError::NoName)?,
    };
    view.bookmarks.push(Bookmark { name, camera });
    Ok(view.bookmarks.len() - 1)
}

/// Gives bookmark `index` another name.
///
/// # Errors
/// The name is empty or taken, or the bookmark is not there.
pub fn rename_bookmark(view: &mut View, index: usize, name: &str) -> Result<(), MarkError> {
    let name = good_name(view, name, Some(index))?;
    view.bookmarks.get_mut(index).ok_or(MarkError::Gone(index))?.name = name;
    Ok(())
}

/// Takes bookmark `index` away.
///
/// # Errors
/// It is not there.
pub fn delete_bookmark(view: &mut View, index: usize) -> Result<(), MarkError> {
    if index >= view.bookmarks.len() {
        return Err(MarkError::Gone(index));
    }
    view.bookmarks.remove(index);
    Ok(())
}

/// Adds a key frame, without a time 3 s after the last; one of the same time is replaced. Returns its number.
///
/// # Errors
/// The time is not finite or before 0 s.
pub fn add_key_frame(view: &mut View, camera: Camera, time_s: Option<f64>) -> Result<usize, MarkError> {
    let time_s = time_s.unwrap_or_else(|| view.path.last().map_or(0.0, |last| last.time_s + KEY_SPACING_S));
    if !(time_s.is_finite() && time_s >= 0.0) {
        return Err(MarkError::Time(time_s));
    }
    let index = view.path.partition_point(|key| key.time_s < time_s);
    match view.path.get_mut(index) {
        Some(key) if key.time_s == time_s => key.camera = camera,
        _ => view.path.insert(index, KeyFrame { time_s, camera }),
    }
    Ok(index)
}

/// Moves key frame `index` to another time; the key frames stay in the order of time. Returns its new number.
///
/// # Errors
/// It is not there, or the time is not finite, before 0 s or that of another key frame.
pub fn move_key_frame(view: &mut View, index: usize, time_s: f64) -> Result<usize, MarkError> {
    let KeyFrame { camera, .. } = *view.path.get(index).ok_or(MarkError::Gone(index))?;
    let taken = view.path.iter().enumerate().any(|(i, key)| i != index && key.time_s == time_s);
    if taken || !(time_s.is_finite() && time_s >= 0.0) {
        return Err(MarkError::Time(time_s));
    }
    view.path.remove(index);
    add_key_frame(view, camera, Some(time_s))
}

/// Takes key frame `index` away.
///
/// # Errors
/// It is not there.
pub fn delete_key_frame(view: &mut View, index: usize) -> Result<(), MarkError> {
    if index >= view.path.len() {
        return Err(MarkError::Gone(index));
    }
    view.path.remove(index);
    Ok(())
}

fn good_name(view: &View, name: &str, own: Option<usize>) -> Result<String, MarkError> {
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(MarkError::NoName);
    }
    let taken =
        view.bookmarks.iter().enumerate().any(|(i, other)| Some(i) != own && other.name.trim() == name);
    if taken { Err(MarkError::Taken(name.into())) } else { Ok(name.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(x: f64) -> Camera {
        Camera::new([x, 0.0, 1.0], [0.0; 3])
    }

    fn times(view: &View) -> Vec<f64> {
        view.path.iter().map(|key| key.time_s).collect()
    }

    #[test]
    fn bookmarks_have_names_of_their_own() {
        let mut view = View::default();
        assert_eq!(add_bookmark(&mut view, camera(1.0), None), Ok(0));
        assert_eq!(add_bookmark(&mut view, camera(2.0), Some(" wake ")), Ok(1));
        assert_eq!(add_bookmark(&mut view, camera(2.0), Some("wake")), Err(MarkError::Taken("wake".into())));
        assert_eq!(rename_bookmark(&mut view, 0, "wake"), Err(MarkError::Taken("wake".into())));
        assert_eq!(rename_bookmark(&mut view, 1, "view 3"), Ok(()));
        assert_eq!(rename_bookmark(&mut view, 1, "a\nb"), Err(MarkError::NoName));
        assert_eq!(rename_bookmark(&mut view, 7, "b"), Err(MarkError::Gone(7)));
        // "view 3" would be next, but is taken.
        assert_eq!(add_bookmark(&mut view, camera(3.0), None), Ok(2));
        let names: Vec<&str> = view.bookmarks.iter().map(|mark| mark.name.as_str()).collect();
        assert_eq!(names, ["view 1", "view 3", "view 4"]);
        assert_eq!(delete_bookmark(&mut view, 0), Ok(()));
        assert_eq!(delete_bookmark(&mut view, 2), Err(MarkError::Gone(2)));
        assert_eq!(view.bookmarks[0].camera, camera(2.0));
    }

    #[test]
    fn key_frames_stay_in_the_order_of_time() {
        let mut view = View::default();
        assert_eq!(add_key_frame(&mut view, camera(0.0), None), Ok(0));
        assert_eq!(add_key_frame(&mut view, camera(1.0), None), Ok(1));
        assert_eq!(add_key_frame(&mut view, camera(2.0), Some(1.5)), Ok(1));
        assert_eq!(times(&view), [0.0, 1.5, 3.0]);
        assert_eq!(add_key_frame(&mut view, camera(9.0), Some(1.5)), Ok(1));
        assert_eq!((view.path.len(), view.path[1].camera), (3, camera(9.0)));
        assert!(add_key_frame(&mut view, camera(0.0), Some(-1.0)).is_err());
        assert!(add_key_frame(&mut view, camera(0.0), Some(f64::NAN)).is_err());
        assert_eq!(move_key_frame(&mut view, 0, 2.0), Ok(1));
        assert_eq!(times(&view), [1.5, 2.0, 3.0]);
        assert_eq!(view.path[1].camera, camera(0.0));
        assert_eq!(move_key_frame(&mut view, 0, 3.0), Err(MarkError::Time(3.0)));
        assert_eq!(delete_key_frame(&mut view, 1), Ok(()));
        assert_eq!(delete_key_frame(&mut view, 2), Err(MarkError::Gone(2)));
        assert_eq!(times(&view), [1.5, 3.0]);
    }
}
