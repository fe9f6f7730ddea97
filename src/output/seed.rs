//! The seed's `fields_avg.dat`: nine columns of text, written byte for byte as its C program did, and read back.
//! Must not know simulations or pictures.

use super::error::OutputError;
use crate::sim::{Column, Fields};
use crate::units::Quantity;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const HEADER: &str = "# x y z n ux uy uz T avg_count";

/// The columns after x, y, z.
const QUANTITIES: [Quantity; 6] = [
    Quantity::new("number_density", "number density", "n", "1/m^3"),
    Quantity::new("velocity_x", "velocity", "u", "m/s"),
    Quantity::new("velocity_y", "velocity", "v", "m/s"),
    Quantity::new("velocity_z", "velocity", "w", "m/s"),
    Quantity::new("temperature", "temperature", "T", "K"),
    Quantity::new("average_count", "particles in a cell", "N", ""),
];

/// Writes the table: cell centres in m, x outermost and z innermost, a blank line after each row and another after
/// each plane; what has no value is 0, as in the seed. The last column is `sample_count` divided by the samples.
pub fn write_table(fields: &Fields, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{HEADER}")?;
    let [nx, ny, nz] = fields.cells.map(|n| n as usize);
    let keys = ["number_density", "velocity_x", "velocity_y", "velocity_z", "temperature", "sample_count"];
    let columns = keys.map(|key| fields.column(key).map(|column| column.values.as_slice()));
    let samples = fields.samples.max(1) as f64;
    let centre = |a: usize, i: usize| {
        fields.corner_m[a] + (i as f64 + 0.5) * fields.size_m[a] / f64::from(fields.cells[a])
    };
    let mut line = String::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let cell = (k * ny + j) * nx + i;
                line.clear();
                for (at, value) in [centre(0, i), centre(1, j), centre(2, k)].into_iter().enumerate() {
                    line.push_str(if at == 0 { "" } else { " " });
                    line.push_str(&c_exponent(value));
                }
                for (at, column) in columns.iter().enumerate() {
                    let value = column.and_then(|c| c.get(cell)).map_or(0.0, |&v| f64::from(v));
                    let value = if value.is_finite() { value } else { 0.0 };
                    line.push(' ');
                    line.push_str(&c_exponent(if at == 5 { value / samples } else { value }));
                }
                writeln!(to, "{line}")?;
            }
            writeln!(to)?;
        }
        writeln!(to)?;
    }
    Ok(())
}

/// C's `%e`: six decimals, an exponent with its sign and at least two digits.
pub fn c_exponent(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text.to_lowercase(),
    }
}

/// Reads the table of the seed, or ours. Cells whose `avg_count` is 0 have no value.
///
/// Errors: [`OutputError::Read`]; [`OutputError::Format`] with the line where it stops being such a table.
pub fn read_table(path: &Path) -> Result<Fields, OutputError> {
    let text = fs::read_to_string(path).map_err(|source| OutputError::read(path, source))?;
    parse(&text).map_err(|problem| OutputError::format(path, problem))
}

fn parse(text: &str) -> Result<Fields, String> {
    let mut rows: Vec<[f64; 9]> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let row = numbers.ok().and_then(|numbers| <[f64; 9]>::try_from(numbers).ok());
        rows.push(row.ok_or_else(|| {
            let number = number + 1;
            format!(
                "line {number} is not nine numbers, as `{HEADER}` says; give a fields_avg.dat or a .vti file"
            )
        })?);
    }
    let odd =
        "the rows are no full grid with x outermost and z innermost: the file was cut off; write it again";
    let first = rows.first().ok_or("holds no rows; give a fields_avg.dat or a .vti file")?;
    let same = |row: &[f64; 9], axis: usize| row[axis] == first[axis];
    let nz = rows.iter().take_while(|row| same(row, 0) && same(row, 1)).count();
    let plane = rows.iter().take_while(|row| same(row, 0)).count();
    if !plane.is_multiple_of(nz) || !rows.len().is_multiple_of(plane) {
        return Err(odd.to_owned());
    }
    let counts = [rows.len() / plane, plane / nz, nz];
    let last = rows.last().ok_or(odd)?;
    // A single layer has no spacing of its own: it gets that of another axis.
    let spacings: [Option<f64>; 3] =
        std::array::from_fn(|a| (counts[a] > 1).then(|| (last[a] - first[a]) / (counts[a] - 1) as f64));
    let other = spacings.iter().flatten().copied().next().unwrap_or(1.0);
    let spacing = spacings.map(|spacing| spacing.unwrap_or(other));
    if spacing.iter().any(|d| !d.is_finite() || *d <= 0.0) {
        return Err(odd.to_owned());
    }
    let mut columns: Vec<Column> = QUANTITIES
        .into_iter()
        .map(|quantity| Column { quantity, values: vec![f32::NAN; rows.len()], errors: Vec::new() })
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let index = [at / plane, at % plane / nz, at % nz];
        let placed = (0..3).all(|a| {
            let expected = first[a] + index[a] as f64 * spacing[a];
            (row[a] - expected).abs() <= 0.01 * spacing[a]
        });
        if !placed {
            return Err(odd.to_owned());
        }
        let cell = (index[2] * counts[1] + index[1]) * counts[0] + index[0];
        let empty = row[8] == 0.0;
        for (column, &value) in columns.iter_mut().zip(&row[3..]) {
            if !empty && let Some(place) = column.values.get_mut(cell) {
                *place = value as f32;
            }
        }
    }
    let mut cells = [0; 3];
    for (n, &count) in cells.iter_mut().zip(&counts) {
        *n = u32::try_from(count).map_err(|_| odd.to_owned())?;
    }
    Ok(Fields {
        cells,
        corner_m: std::array::from_fn(|a| first[a] - 0.5 * spacing[a]),
        size_m: std::array::from_fn(|a| spacing[a] * counts[a] as f64),
        samples: 0,
        batches: 0,
        columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_as_in_c() {
        // From printf("%e") of a C library.
        for (value, text) in [
            (0.0, "0.000000e+00"),
            (1.23456e-5, "1.234560e-05"),
            (-9.99999949e5, "-9.999999e+05"),
            (9.9999999e99, "1.000000e+100"),
            (1.0, "1.000000e+00"),
            (3.62e19, "3.620000e+19"),
            (1.5e-300, "1.500000e-300"),
            (1234567.5, "1.234568e+06"),
            (1234566.5, "1.234566e+06"),
        ] {
            assert_eq!(c_exponent(value), text);
        }
    }

    #[test]
    fn broken_tables_name_the_line() {
        let good = "1 1 1 5 0 0 0 300 2\n";
        assert!(parse("").unwrap_err().contains("no rows"));
        assert!(parse(&format!("{HEADER}\n{good}1 1 2 x\n")).unwrap_err().contains("line 3"));
        let cut = format!("{good}1 1 2 5 0 0 0 300 2\n1 2 1 5 0 0 0 300 2\n");
        assert!(parse(&cut).unwrap_err().contains("cut off"));
        let fields = parse(good).unwrap();
        assert_eq!(fields.cells, [1, 1, 1]);
    }
}
