//! Whether there is a display to open a window on. The windowing library ends the program if there is none; this says so
//! beforehand, in plain words. Must not know Bevy.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why no window can be opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DisplayError {
    /// Neither X11 nor Wayland is named in the environment.
    #[error(
        "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set): run this on a desktop, or \
         record a video instead: knudsen record SCENE"
    )]
    None,
    /// One is named, but nobody answers.
    #[error(
        "the display {0} does not answer: start its server, or unset the variable, or record a video instead: knudsen \
         record SCENE"
    )]
    NoAnswer(String),
}

/// Looks for a display as the windowing library would: Wayland first, then X11.
///
/// # Errors
/// [`DisplayError`].
pub fn check_display() -> Result<(), DisplayError> {
    if cfg!(unix) && cfg!(not(target_os = "macos")) { check(|name| std::env::var_os(name)) } else { Ok(()) }
}

fn check(variable: impl Fn(&str) -> Option<OsString>) -> Result<(), DisplayError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut unanswered = None;
    if let Some(name) = set("WAYLAND_DISPLAY") {
        // A name is a socket in the runtime folder, a path is itself.
        let socket = set("XDG_RUNTIME_DIR").map(PathBuf::from).unwrap_or_default().join(&name);
        if answers(&socket) {
            return Ok(());
        }
        unanswered = Some(format!("{} (Wayland)", name.to_string_lossy()));
    } else if set("WAYLAND_SOCKET").is_some() {
        return Ok(());
    }
    let Some(display) = set("DISPLAY") else {
        return Err(unanswered.map_or(DisplayError::None, DisplayError::NoAnswer));
    };
    let display = display.to_string_lossy().into_owned();
    // HOST:NUMBER.SCREEN; without a host a socket of this machine.
    let (host, rest) = display.rsplit_once(':').unwrap_or(("", ""));
    let number = rest.split('.').next().and_then(|number| number.parse::<u16>().ok());
    let answered = match (host, number) {
        (_, None) => false,
        ("" | "unix", Some(number)) => {
            let socket = PathBuf::from(format!("/tmp/.X11-unix/X{number}"));
            answers(&socket) || answers_abstract(&socket)
        }
        (host, Some(number)) => std::net::TcpStream::connect((host, 6000_u16.saturating_add(number))).is_ok(),
    };
    if answered { Ok(()) } else { Err(DisplayError::NoAnswer(display)) }
}

#[cfg(unix)]
fn answers(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

#[cfg(not(unix))]
fn answers(_: &Path) -> bool {
    false
}

/// X servers on Linux also listen on a name that is no file.
#[cfg(target_os = "linux")]
fn answers_abstract(socket: &Path) -> bool {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    SocketAddr::from_abstract_name(socket.as_os_str().as_bytes())
        .and_then(|address| UnixStream::connect_addr(&address))
        .is_ok()
}

#[cfg(not(target_os = "linux"))]
fn answers_abstract(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Result<(), DisplayError> {
        check(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn no_display_and_a_dead_one_are_told_apart() {
        assert_eq!(with(&[]), Err(DisplayError::None));
        assert_eq!(with(&[("DISPLAY", "")]), Err(DisplayError::None));
        assert_eq!(with(&[("DISPLAY", ":9731")]), Err(DisplayError::NoAnswer(":9731".into())));
        assert_eq!(with(&[("DISPLAY", "nonsense")]), Err(DisplayError::NoAnswer("nonsense".into())));
        let dead = with(&[("WAYLAND_DISPLAY", "wayland-none"), ("XDG_RUNTIME_DIR", "/nowhere")]);
        assert!(matches!(dead, Err(DisplayError::NoAnswer(name)) if name.contains("Wayland")));
    }

    #[cfg(unix)]
    #[test]
    fn a_server_that_listens_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let _server = std::os::unix::net::UnixListener::bind(folder.path().join("wayland-7")).unwrap();
        let folder = folder.path().to_str().unwrap();
        assert_eq!(with(&[("WAYLAND_DISPLAY", "wayland-7"), ("XDG_RUNTIME_DIR", folder)]), Ok(()));
    }
}
