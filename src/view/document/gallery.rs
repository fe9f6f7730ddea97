//! The scenes that come with the program, inside it.
//! Must not know the document or what is drawn.

use crate::scene::{Scene, SceneError, parse};
use std::path::Path;

/// A scene inside the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// The name of the scene.
    pub name: &'static str,
    /// Its text, as in the file.
    pub text: &'static str,
}

// None of them needs a triangle file: the test below keeps it so.
const SHIPPED: [Shipped; 6] = [
    Shipped { name: "sphere", text: include_str!("../../../scenes/sphere.ron") },
    Shipped { name: "wing", text: include_str!("../../../scenes/wing.ron") },
    Shipped { name: "combo", text: include_str!("../../../scenes/combo.ron") },
    Shipped { name: "argon sphere", text: include_str!("../../../scenes/argon_sphere.ron") },
    Shipped {
        name: "free molecular sphere",
        text: include_str!("../../../scenes/free_molecular_sphere.ron"),
    },
    Shipped { name: "argon box", text: include_str!("../../../scenes/argon_box.ron") },
];

/// The scenes of the gallery.
pub fn shipped() -> &'static [Shipped] {
    &SHIPPED
}

impl Shipped {
    /// The scene; triangle files that are added to it are looked for in `folder`.
    ///
    /// # Errors
    /// Never, as a test holds; the type is that of any scene.
    pub fn scene(&self, folder: &Path) -> Result<Scene, SceneError> {
        parse(self.text, self.name, folder)
    }

    /// What it shows.
    pub fn about(&self) -> String {
        self.scene(Path::new(".")).map(|scene| scene.about).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_scene_of_the_folder_is_shipped_under_its_name_and_needs_no_other_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("scenes")
            .map(|entry| entry.expect("a file").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "ron"))
            .map(|path| path.file_stem().expect("a name").to_string_lossy().replace('_', " "))
            .collect();
        let names: BTreeSet<String> = shipped().iter().map(|one| one.name.to_string()).collect();
        assert_eq!(names, files);
        for one in shipped() {
            let scene = one.scene(Path::new("/there/is/no/such/folder")).expect("a good scene");
            assert_eq!(scene.name, one.name);
            assert!(!one.about().is_empty(), "{} has nothing to say in a gallery", one.name);
        }
    }
}
