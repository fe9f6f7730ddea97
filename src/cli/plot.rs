//! `knudsen plot`: a picture of a result file, any plane of any field, or a history against time.
//! Must not know simulations or devices.

use crate::output::color::Map;
use crate::output::file::write_whole;
use crate::output::slice::{Layer, Slice};
use crate::output::slice_plot::{self, Range, Style};
use crate::output::{OutputError, line_plot, seed, table, vti_read};
use crate::sim::Fields;
use std::path::{Path, PathBuf};

/// Draws a slice of a field, or a history.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  knudsen plot out/fields.vti --field temperature --slice z=0.55 -o temperature.png
  knudsen plot out/fields.vti --field number_density --slice y=0.5 --log -o density.png
  knudsen plot fields_avg.dat --field velocity_x --range 0..1200 --map inferno
  knudsen plot out/history.csv --field particles")]
pub struct PlotArgs {
    /// fields.vti of a run, a fields_avg.dat, or a history.csv
    pub file: PathBuf,
    /// What to draw: the key of a field or of a history's column; an unknown one lists those there are
    #[arg(long, short)]
    pub field: String,
    /// Plane, such as z=0.55 (metres); the layer of cells in which it lies is drawn [default: middle of z]
    #[arg(long, short)]
    pub slice: Option<String>,
    /// Picture to write [default: the file's name with the field, ending in .png, in the current folder]
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Range of the colours: 100..400, full, or auto (without the 0.5 % smallest and largest values)
    #[arg(long, default_value = "auto", allow_hyphen_values = true)]
    pub range: String,
    /// Logarithmic colours
    #[arg(long)]
    pub log: bool,
    /// Colour map [default: diverging about 0 where both signs matter, else viridis]
    #[arg(long, value_parser = ["viridis", "inferno", "magma", "cividis", "diverging"])]
    pub map: Option<String>,
    /// Width of the picture, pixels
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(300..=8000))]
    pub size: u32,
}

/// Draws the picture and says where it is.
///
/// Errors: a missing, damaged or foreign file, an unknown field, a plane outside the domain, a senseless range, an
/// unwritable picture; each says what to do.
pub fn run(args: &PlotArgs) -> anyhow::Result<()> {
    let range: Range = args.range.parse()?;
    let slice = args.slice.as_deref().map(str::parse::<Slice>).transpose()?;
    let default = || {
        let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
        PathBuf::from(format!("{stem}_{}.png", args.field.replace(['/', '\\'], "_")))
    };
    let target = args.output.clone().unwrap_or_else(default);
    if target.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case("png")) {
        let text =
            format!("{}: pictures are PNG; give the output a name that ends in .png", target.display());
        return Err(OutputError::Request(text).into());
    }
    let extension = args.file.extension().unwrap_or_default().to_ascii_lowercase();
    let (picture, what) = if extension == "csv" {
        if slice.is_some() || args.log || args.map.is_some() {
            let text = "a history has no slice, colours or logarithm; leave out --slice, --log and --map";
            return Err(OutputError::Request(text.to_owned()).into());
        }
        let history = table::read_history(&args.file)?;
        let picture = line_plot::draw(&history, &args.field, range, args.size as usize, "")?;
        (picture, format!("{} against time", args.field))
    } else {
        let fields = if extension == "vti" {
            vti_read::read_fields(&args.file)?
        } else {
            seed::read_table(&args.file)?
        };
        let slice = slice.unwrap_or_else(|| middle(&fields));
        let layer = Layer::new(&fields, &args.field, slice)?;
        let outlines = outlines(&args.file, &layer);
        let style = Style {
            range,
            log: args.log,
            map: args.map.as_deref().and_then(Map::from_name),
            width: args.size as usize,
            subtitle: subtitle(&fields),
        };
        let picture = slice_plot::draw(&layer, &layer.quantity, &outlines, &style)?;
        (picture, format!("{} at {}", layer.quantity.label(), layer.place()))
    };
    write_whole(&target, |to| picture.write_png(to))?;
    say!("{}: {what}", target.display());
    Ok(())
}

fn middle(fields: &Fields) -> Slice {
    Slice { axis: 2, position_m: fields.corner_m[2] + 0.5 * fields.size_m[2] }
}

fn subtitle(fields: &Fields) -> String {
    match fields.samples {
        0 => String::new(),
        1 => "one instant".to_owned(),
        samples => format!("mean of {samples} samples"),
    }
}

/// The obstacles, if the run's surface.vtp lies beside its fields; without it the picture has no outlines.
fn outlines(file: &Path, layer: &Layer) -> Vec<[[f64; 2]; 2]> {
    let beside = file.with_file_name("surface.vtp");
    vti_read::read_surface(&beside).map(|mesh| layer.cut(&mesh)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        plot: PlotArgs,
    }

    #[test]
    fn arguments_are_read() {
        let line =
            "plot a.vti --field velocity_y --slice z=-0.5 --range -5..5 --log --map inferno --size 400";
        let args = Line::try_parse_from(line.split(' ')).unwrap().plot;
        assert_eq!(args.slice.as_deref(), Some("z=-0.5"));
        assert_eq!((args.range.as_str(), args.log, args.size), ("-5..5", true, 400));
        for wrong in ["plot a.vti", "plot a.vti -f T --map jet", "plot a.vti -f T --size 10"] {
            assert!(Line::try_parse_from(wrong.split(' ')).is_err(), "{wrong}");
        }
    }
}
