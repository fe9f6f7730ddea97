//! Writing a scene as RON that reads back as the same scene.
//! Must not know devices or running state.

use super::Scene;
use ron::Options;
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;

/// Nesting up to which each field has its own line: scene, model, obstacles, obstacle. Shapes and walls stay on one.
const LINES_TO_DEPTH: usize = 4;

/// The scene as RON: what [`super::parse`] reads back as an equal scene, given the same folder.
pub fn to_ron(scene: &Scene) -> String {
    let config =
        PrettyConfig::new().new_line("\n").indentor("    ").depth_limit(LINES_TO_DEPTH).struct_names(false);
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
    let written = Options::default().with_default_extension(extensions).to_string_pretty(scene, config);
    match written {
        Ok(text) => text + "\n",
        // Plain values in memory cannot fail to be written, but for groups nested beyond RON's limit of 128, which no
        // validated scene has; the text then says so to whoever reads it back.
        Err(error) => format!("// this scene could not be written: {error}\n"),
    }
}
