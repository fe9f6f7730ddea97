//! Holds structs that cross to the GPU to one layout: C++ static asserts made of Rust's own sizes and offsets.
//! Must not know any struct.

/// C++ lines, as a `String`, that do not compile unless the struct of the same name has the same size and alignment and its
/// fields, by the same names, have the same offsets: `abi!(Plan { cells, first })` for a `#[repr(C)] struct Plan`; with
/// another name in C++, `abi!(Plan as "GasPlan" { cells, first })`. NVRTC has no `<cstddef>`: `__builtin_offsetof` serves.
#[macro_export]
macro_rules! abi {
    ($rust:ident { $($field:ident),* $(,)? }) => {
        $crate::abi!(@ $rust, stringify!($rust), $($field)*)
    };
    ($rust:ident as $name:literal { $($field:ident),* $(,)? }) => {
        $crate::abi!(@ $rust, $name, $($field)*)
    };
    (@ $rust:ident, $name:expr, $($field:ident)*) => {
        $crate::device::cuda::abi::asserts(
            $name,
            ::core::mem::size_of::<$rust>(),
            ::core::mem::align_of::<$rust>(),
            &[$((stringify!($field), ::core::mem::offset_of!($rust, $field))),*],
        )
    };
}

/// What [`abi!`] writes: a struct's name in C++, size, alignment, and fields with offsets, bytes.
pub fn asserts(name: &str, size: usize, align: usize, fields: &[(&str, usize)]) -> String {
    let mut lines = format!(
        "static_assert(sizeof({name}) == {size}, \"{name}: {size} bytes in Rust\");\n\
         static_assert(alignof({name}) == {align}, \"{name}: aligned to {align} bytes in Rust\");\n"
    );
    for (field, offset) in fields {
        lines.push_str(&format!(
            "static_assert(__builtin_offsetof({name}, {field}) == {offset}, \"{name}.{field}: at byte {offset} in Rust\");\n"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    #[repr(C)]
    struct Plan {
        _cells: [u32; 3],
        first: u64,
    }

    #[test]
    fn asserts_name_sizes_and_offsets() {
        let lines = abi!(Plan { first });
        for line in [
            "static_assert(sizeof(Plan) == 24,",
            "static_assert(alignof(Plan) == 8,",
            "static_assert(__builtin_offsetof(Plan, first) == 16,",
        ] {
            assert!(lines.contains(line), "{line} is not in {lines}");
        }
        assert!(abi!(Plan as "GasPlan" { first }).contains("sizeof(GasPlan) == 24"));
    }
}
