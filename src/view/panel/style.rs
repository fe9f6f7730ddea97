//! How the panels look: one dark theme, few colours that colour-blind eyes tell apart, and what marks the cost of an edit.
//! Must not know Bevy or the simulation.

use super::text;
use crate::scene::Impact;
use bevy_egui::egui::{self, Color32, CornerRadius, FontId, RichText, Stroke, TextStyle};

/// Text.
pub const TEXT: Color32 = Color32::from_rgb(228, 231, 237);
/// Text of less weight; 7 : 1 against the panels.
pub const FAINT: Color32 = Color32::from_rgb(166, 173, 186);
/// Panels.
pub const PANEL: Color32 = Color32::from_rgb(22, 25, 33);
/// What is chosen.
pub const ACCENT: Color32 = Color32::from_rgb(86, 180, 233);
/// All is well (bluish green of Okabe and Ito 2008, as the next two: told apart by all kinds of colour vision).
pub const GOOD: Color32 = Color32::from_rgb(60, 190, 150);
/// Attention.
pub const WARN: Color32 = Color32::from_rgb(240, 190, 70);
/// Wrong.
pub const BAD: Color32 = Color32::from_rgb(240, 120, 60);
/// Curves of a plot, in turn.
pub const CURVES: [Color32; 6] = [
    Color32::from_rgb(86, 180, 233),
    Color32::from_rgb(230, 159, 0),
    Color32::from_rgb(0, 190, 140),
    Color32::from_rgb(240, 228, 66),
    Color32::from_rgb(204, 121, 167),
    Color32::from_rgb(213, 94, 0),
];

/// Puts the theme on.
pub fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    let mut visuals = egui::Visuals::dark();
    visuals.panel_fill = PANEL;
    visuals.window_fill = PANEL;
    visuals.extreme_bg_color = Color32::from_rgb(12, 14, 19);
    visuals.faint_bg_color = Color32::from_rgb(29, 33, 42);
    visuals.weak_text_color = Some(FAINT);
    visuals.warn_fg_color = WARN;
    visuals.error_fg_color = BAD;
    visuals.hyperlink_color = ACCENT;
    visuals.selection.bg_fill = Color32::from_rgb(28, 84, 122);
    visuals.selection.stroke = Stroke::new(1.0, TEXT);
    visuals.window_corner_radius = CornerRadius::same(4);
    for widget in [
        &mut visuals.widgets.noninteractive,
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
    ] {
        widget.fg_stroke.color = TEXT;
        widget.corner_radius = CornerRadius::same(3);
    }
    ctx.set_visuals_of(egui::Theme::Dark, visuals);
    ctx.global_style_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.spacing.slider_width = 96.0;
        style.spacing.interact_size.y = 19.0;
        style.spacing.scroll = egui::style::ScrollStyle::solid();
        for (text_style, size) in [
            (TextStyle::Body, 13.5),
            (TextStyle::Button, 13.5),
            (TextStyle::Small, 11.0),
            (TextStyle::Heading, 16.0),
        ] {
            style.text_styles.insert(text_style, FontId::proportional(size));
        }
        style.text_styles.insert(TextStyle::Monospace, FontId::monospace(12.5));
    });
}

/// The colour of a cost.
pub fn cost_color(impact: Impact) -> Color32 {
    match impact {
        Impact::Nothing => FAINT,
        Impact::Live => GOOD,
        Impact::AveragesReset => WARN,
        Impact::Restart => BAD,
    }
}

/// The small word that says beforehand what a control costs.
pub fn cost(ui: &mut egui::Ui, impact: Impact) {
    let word = RichText::new(text::cost(impact)).small().color(cost_color(impact));
    ui.label(word).on_hover_text(text::cost_sentence(impact));
}

/// Text of less weight.
pub fn faint(text: impl Into<String>) -> RichText {
    RichText::new(text).color(FAINT)
}

/// A line that may be long: it wraps, and is never clipped.
pub fn paragraph(ui: &mut egui::Ui, text: impl Into<egui::WidgetText>) {
    ui.add(egui::Label::new(text).wrap());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: Color32) -> f64 {
        let linear = |byte: u8| {
            let s = f64::from(byte) / 255.0;
            if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    #[test]
    fn every_sign_that_is_used_has_a_glyph() {
        let context = egui::Context::default();
        apply(&context);
        let signs = "■±°µ≤≥²³¹⁰⁴⁵⁶⁷⁸⁹\u{2212}";
        let mut missing = Vec::new();
        let output = context.run_ui(egui::RawInput::default(), |ui| {
            missing = ui.ctx().fonts_mut(|fonts| {
                signs.chars().filter(|c| !fonts.has_glyph(&FontId::proportional(12.0), *c)).collect()
            });
        });
        output.drop_without_applying_deltas();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn text_stands_out_from_the_panels() {
        for color in [TEXT, FAINT, ACCENT, GOOD, WARN, BAD] {
            let contrast = (luminance(color) + 0.05) / (luminance(PANEL) + 0.05);
            // 4.5 is what WCAG 2.2 asks for text.
            assert!(contrast >= 5.5, "{color:?}: {contrast}");
        }
    }
}
