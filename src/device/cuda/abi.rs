//! The check that host and kernels lay their shared structs out alike.
//! Knows nothing of what the structs mean.

/// C++ lines that fail to compile where a struct's size, or the offset of one of its fields, is another than in Rust.
macro_rules! abi {
    ($name:ident { $($field:ident),* $(,)? }) => {{
        let mut lines = format!(
            "static_assert(sizeof({0}) == {1}, \"{0} has another size than in Rust\");\n",
            stringify!($name),
            size_of::<$name>()
        );
        $(
            lines += &format!(
                "static_assert(OFFSET_OF({0}, {1}) == {2}, \"{0}.{1} lies elsewhere than in Rust\");\n",
                stringify!($name),
                stringify!($field),
                std::mem::offset_of!($name, $field)
            );
        )*
        lines
    }};
}
