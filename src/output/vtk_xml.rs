//! VTK's XML files with appended raw data: a writer, and a reader of what this writer writes.
//! Must not know fields, surfaces or particles: only named arrays in sections.
//!
//! Written by hand instead of through a crate because the layout is small (one header of text, then for each array
//! a `u64` length and its little-endian bytes), the arrays are streamed without a second copy in memory, and the
//! labels and units in it come back unchanged.

use crate::units::Quantity;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Numbers of an array.
#[derive(Debug, Clone)]
pub enum Values<'a> {
    /// VTK's Float32.
    F32(Cow<'a, [f32]>),
    /// VTK's Float64.
    F64(Vec<f64>),
    /// VTK's Int32.
    I32(Vec<i32>),
    /// VTK's Int64.
    I64(Vec<i64>),
}

/// A named array of VTK.
#[derive(Debug, Clone)]
pub struct Array<'a> {
    name: String,
    components: usize,
    quantity: Option<Quantity>,
    values: Values<'a>,
}

impl<'a> Array<'a> {
    /// An array of `components` numbers an element.
    pub fn new(name: &str, components: usize, values: Values<'a>) -> Self {
        Self { name: name.to_owned(), components, quantity: None, values }
    }

    /// The same with its human name, symbol and unit written beside it.
    pub fn with_quantity(mut self, quantity: Quantity) -> Self {
        self.quantity = Some(quantity);
        self
    }

    fn kind(&self) -> &'static str {
        match self.values {
            Values::F32(_) => "Float32",
            Values::F64(_) => "Float64",
            Values::I32(_) => "Int32",
            Values::I64(_) => "Int64",
        }
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        // VTK is told "LittleEndian"; on a big-endian machine the numbers are turned.
        if cfg!(target_endian = "little") {
            return Cow::Borrowed(match &self.values {
                Values::F32(values) => bytemuck::cast_slice(values),
                Values::F64(values) => bytemuck::cast_slice(values),
                Values::I32(values) => bytemuck::cast_slice(values),
                Values::I64(values) => bytemuck::cast_slice(values),
            });
        }
        Cow::Owned(match &self.values {
            Values::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::I32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::I64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        })
    }

    fn length(&self) -> usize {
        match &self.values {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::I64(values) => values.len(),
        }
    }
}

/// A file of VTK: a header of text, and arrays whose bytes follow it.
#[derive(Debug, Default)]
pub struct Document<'a> {
    header: String,
    arrays: Vec<Array<'a>>,
    offset: u64,
    open: Vec<&'static str>,
}

impl<'a> Document<'a> {
    /// A document of VTK's type `kind` ("ImageData", "PolyData"); `attributes` are those of its main element.
    pub fn new(kind: &'static str, attributes: &[(&str, String)]) -> Self {
        let mut document = Self::default();
        document.header.push_str("<?xml version=\"1.0\"?>\n");
        let version = [
            ("type", kind.to_owned()),
            ("version", "1.0".to_owned()),
            ("byte_order", "LittleEndian".to_owned()),
            ("header_type", "UInt64".to_owned()),
        ];
        document.open("VTKFile", &version);
        document.open(kind, attributes);
        document
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &'static str, attributes: &[(&str, String)]) {
        self.start(tag, attributes, ">\n");
        self.open.push(tag);
    }

    /// Closes the innermost element.
    pub fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.indent();
            let _ = writeln!(self.header, "</{tag}>");
        }
    }

    /// Adds an array to the innermost element.
    pub fn array(&mut self, array: Array<'a>) {
        self.add(array, false);
    }

    /// Adds an array that belongs to the whole data set (element `FieldData`).
    pub fn field_array(&mut self, array: Array<'a>) {
        self.add(array, true);
    }

    /// Adds texts that belong to the whole data set.
    pub fn field_strings(&mut self, name: &str, texts: &[&str]) {
        let attributes = [
            ("type", "String".to_owned()),
            ("Name", name.to_owned()),
            ("NumberOfTuples", texts.len().to_string()),
            ("format", "ascii".to_owned()),
        ];
        self.start("DataArray", &attributes, ">\n");
        for text in texts {
            for byte in text.bytes() {
                let _ = write!(self.header, "{byte} ");
            }
            self.header.push_str("0\n");
        }
        self.indent();
        self.header.push_str("</DataArray>\n");
    }

    fn add(&mut self, array: Array<'a>, of_the_whole: bool) {
        let mut attributes = vec![
            ("type", array.kind().to_owned()),
            ("Name", array.name.clone()),
            ("NumberOfComponents", array.components.to_string()),
        ];
        if of_the_whole {
            let tuples = array.length() / array.components.max(1);
            attributes.push(("NumberOfTuples", tuples.to_string()));
        }
        attributes.push(("format", "appended".to_owned()));
        attributes.push(("offset", self.offset.to_string()));
        match &array.quantity {
            None => self.start("DataArray", &attributes, "/>\n"),
            Some(quantity) => {
                attributes.push(("label", quantity.name.to_string()));
                attributes.push(("symbol", quantity.symbol.to_string()));
                attributes.push(("unit", quantity.unit.to_string()));
                self.start("DataArray", &attributes, ">\n");
                if !quantity.unit.is_empty() {
                    self.indent();
                    let unit = escape(&quantity.unit);
                    let _ = writeln!(
                        self.header,
                        "  <InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">{unit}</InformationKey>"
                    );
                }
                self.indent();
                self.header.push_str("</DataArray>\n");
            }
        }
        self.offset += 8 + array.bytes().len() as u64;
        self.arrays.push(array);
    }

    /// Closes all elements and writes the document.
    pub fn write(mut self, to: &mut dyn Write) -> io::Result<()> {
        while self.open.len() > 1 {
            self.close();
        }
        to.write_all(self.header.as_bytes())?;
        to.write_all(b"  <AppendedData encoding=\"raw\">\n_")?;
        for array in &self.arrays {
            let bytes = array.bytes();
            to.write_all(&(bytes.len() as u64).to_le_bytes())?;
            to.write_all(&bytes)?;
        }
        to.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
    }

    fn start(&mut self, tag: &str, attributes: &[(&str, String)], end: &str) {
        self.indent();
        let _ = write!(self.header, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.header, " {name}=\"{}\"", escape(value));
        }
        self.header.push_str(end);
    }

    fn indent(&mut self) {
        for _ in 0..self.open.len() {
            self.header.push_str("  ");
        }
    }
}

/// Three numbers as VTK wants them in an attribute.
pub fn triple(values: [f64; 3]) -> String {
    format!("{} {} {}", values[0], values[1], values[2])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// An element of a file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its tag.
    pub tag: String,
    /// The tag of the element around it.
    pub parent: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// An attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// An attribute of blank-separated numbers.
    pub fn numbers<T: std::str::FromStr, const N: usize>(&self, name: &str) -> Option<[T; N]> {
        let numbers: Option<Vec<T>> = self.get(name)?.split_whitespace().map(|w| w.parse().ok()).collect();
        numbers?.try_into().ok()
    }
}

/// A file that was read: its elements in order, and the bytes of its arrays.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// Elements, in order.
    pub elements: Vec<Element>,
    appended: &'a [u8],
}

const MARK: &[u8] = b"<AppendedData encoding=\"raw\">";

/// Reads the layout that [`Document`] writes; `Err` says in words why this is not one.
pub fn parse<'a>(bytes: &'a [u8], kind: &str) -> Result<Parsed<'a>, String> {
    let head = &bytes[..bytes.len().min(1 << 12)];
    if !String::from_utf8_lossy(head).contains("<VTKFile") {
        return Err("is not an XML file of VTK".to_owned());
    }
    let Some(mark) = bytes.windows(MARK.len()).position(|window| window == MARK) else {
        return Err("is a VTK file without raw appended data (text, base64 or compressed), or was cut off; \
                    knudsen reads only what it writes itself: open this one in ParaView"
            .to_owned());
    };
    let text =
        std::str::from_utf8(&bytes[..mark]).map_err(|_| "has a header that is not UTF-8".to_owned())?;
    let elements = elements(text)?;
    let after = &bytes[mark + MARK.len()..];
    let start = after.iter().position(|&b| b == b'_').ok_or("was cut off after its header")?;
    let file = elements.iter().find(|e| e.tag == "VTKFile").ok_or("has no VTKFile element")?;
    let found = file.get("type").unwrap_or("nothing");
    if found != kind {
        return Err(format!("holds {found}, and {kind} is needed"));
    }
    let as_written = file.get("byte_order") == Some("LittleEndian")
        && file.get("header_type") == Some("UInt64")
        && file.get("compressor").is_none();
    if !as_written {
        return Err(
            "is compressed, big-endian or has short headers; knudsen reads only what it writes itself: \
                    open this one in ParaView"
                .to_owned(),
        );
    }
    Ok(Parsed { elements, appended: &after[start + 1..] })
}

impl Parsed<'_> {
    /// The numbers of a `DataArray` element as `N`-byte words turned by `from`; `Err` says in words what is wrong.
    pub fn values<T, const N: usize>(
        &self,
        element: &Element,
        kind: &str,
        from: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, String> {
        let name = element.get("Name").unwrap_or("without a name");
        if element.get("type") != Some(kind) || element.get("format") != Some("appended") {
            return Err(format!("array {name} is not appended {kind}; open this file in ParaView"));
        }
        let cut = || format!("array {name} is incomplete: the file was cut off; write it again");
        let [offset] = element.numbers::<usize, 1>("offset").ok_or_else(cut)?;
        let rest = self.appended.get(offset..).ok_or_else(cut)?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (words, _) = rest.get(..length).ok_or_else(cut)?.as_chunks::<N>();
        Ok(words.iter().map(|word| from(*word)).collect())
    }
}

/// The opening tags of a piece of XML, with the tag around each.
fn elements(text: &str) -> Result<Vec<Element>, String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').ok_or("has a tag without an end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            open.pop();
            continue;
        }
        let alone = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut words) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while let Some((key, after)) = words.split_once("=\"") {
            let (value, after) = after.split_once('"').ok_or("has an attribute without an end")?;
            attributes.push((key.trim().to_owned(), unescape(value)));
            words = after;
        }
        let parent = open.last().cloned().unwrap_or_default();
        found.push(Element { tag: name.to_owned(), parent, attributes });
        if !alone {
            open.push(name.to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_know_their_parents_and_odd_characters() {
        let found =
            elements("<?xml?><A k=\"a &lt;&quot;&amp; b\"><B x=\"1 2\"/><C>text</C></A><D/>").unwrap();
        let tags: Vec<_> = found.iter().map(|e| (e.tag.as_str(), e.parent.as_str())).collect();
        assert_eq!(tags, [("A", ""), ("B", "A"), ("C", "A"), ("D", "")]);
        assert_eq!(found[0].get("k"), Some("a <\"& b"));
        assert_eq!(found[1].numbers::<u32, 2>("x"), Some([1, 2]));
        assert_eq!(found[1].numbers::<u32, 3>("x"), None);
    }

    #[test]
    fn arrays_come_back_bit_for_bit_and_cuts_are_noticed() {
        let mut document = Document::new("ImageData", &[("Origin", triple([0.0, 0.5, -1.0]))]);
        document.open("CellData", &[]);
        let values = vec![1.5_f32, f32::NAN, -0.0, f32::MIN_POSITIVE];
        document.array(Array::new("a<b", 1, Values::F32(values.clone().into())));
        document.array(Array::new("n", 1, Values::I64(vec![7, -8])));
        let mut bytes = Vec::new();
        document.write(&mut bytes).unwrap();

        let parsed = parse(&bytes, "ImageData").unwrap();
        let arrays: Vec<_> = parsed.elements.iter().filter(|e| e.tag == "DataArray").collect();
        assert_eq!(arrays[0].get("Name"), Some("a<b"));
        assert_eq!(arrays[0].parent, "CellData");
        let back = parsed.values(arrays[0], "Float32", f32::from_le_bytes).unwrap();
        assert_eq!(bytemuck::cast_slice::<f32, u32>(&back), bytemuck::cast_slice::<f32, u32>(&values));
        assert_eq!(parsed.values(arrays[1], "Int64", i64::from_le_bytes).unwrap(), [7, -8]);
        assert!(
            parsed.values(arrays[1], "Float32", f32::from_le_bytes).unwrap_err().contains("not appended")
        );

        let cut = parse(&bytes[..bytes.len() - 50], "ImageData").unwrap();
        assert!(cut.values(arrays[1], "Int64", i64::from_le_bytes).unwrap_err().contains("cut off"));
        assert!(parse(&bytes, "PolyData").unwrap_err().contains("PolyData is needed"));
        assert!(parse(b"hello", "ImageData").unwrap_err().contains("not an XML file"));
        assert!(parse(&bytes[..200], "ImageData").unwrap_err().contains("cut off"));
    }
}
