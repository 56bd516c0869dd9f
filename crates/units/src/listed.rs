//! Lists of all values of an enum.

/// Lists all values of an enum in the order given. A value that is missing does not compile.
///
/// ```
/// #[derive(Clone, Copy)]
/// enum Direction {
///     Read,
///     Write,
/// }
///
/// const ALL: [Direction; 2] = units::all_of!(Direction: Read, Write);
/// ```
///
/// ```compile_fail
/// enum Direction {
///     Read,
///     Write,
/// }
///
/// const ALL: [Direction; 1] = units::all_of!(Direction: Read);
/// ```
///
/// With a word for each, a row is both:
///
/// ```
/// # #[derive(Clone, Copy)]
/// # enum Direction {
/// #     Read,
/// #     Write,
/// # }
/// const ALL: [(&str, Direction); 2] = units::all_of!(Direction: "r" => Read, "w" => Write);
/// ```
#[macro_export]
macro_rules! all_of {
    ($name:ident: $($value:ident),+ $(,)?) => {{
        const _: fn($name) = |value| match value {
            $($name::$value => (),)+
        };
        [$($name::$value),+]
    }};
    ($name:ident: $($word:literal => $value:ident),+ $(,)?) => {{
        const _: fn($name) = |value| match value {
            $($name::$value => (),)+
        };
        [$(($word, $name::$value)),+]
    }};
}
