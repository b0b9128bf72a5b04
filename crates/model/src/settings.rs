//! How a room declares its settings: each is one field, with its comment, its type and what it is
//! when nobody says anything.

/// Makes a struct of settings of such fields. Times are written as `30s`; the comments are the help
/// of flags and the text of docs/config.md.
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::settings!(@ [$(#[$about])*] $name [] [] $($fields)*);
    };
    (@ $about:tt $name:ident [$($made:tt)*] [$($usual:tt)*]
        $(#[$meta:meta])* $field:ident: Duration = $value:expr, $($rest:tt)*) => {
        $crate::settings!(@ $about $name [
            $($made)* $(#[$meta])*
            #[serde(with = "humantime_serde")]
            #[schemars(with = "String")]
            pub $field: Duration,
        ] [$($usual)* $field: $value,] $($rest)*);
    };
    (@ $about:tt $name:ident [$($made:tt)*] [$($usual:tt)*]
        $(#[$meta:meta])* $field:ident: Option<Duration> = $value:expr, $($rest:tt)*) => {
        $crate::settings!(@ $about $name [
            $($made)* $(#[$meta])*
            #[serde(with = "humantime_serde")]
            #[schemars(with = "Option<String>")]
            pub $field: Option<Duration>,
        ] [$($usual)* $field: $value,] $($rest)*);
    };
    (@ $about:tt $name:ident [$($made:tt)*] [$($usual:tt)*]
        $(#[$meta:meta])* $field:ident: $kind:ty = $value:expr, $($rest:tt)*) => {
        $crate::settings!(@ $about $name [$($made)* $(#[$meta])* pub $field: $kind,]
            [$($usual)* $field: $value,] $($rest)*);
    };
    (@ [$(#[$about:meta])*] $name:ident [$($made:tt)*] [$($usual:tt)*]) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default)]
        pub struct $name { $($made)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($usual)* }
            }
        }
    };
}
