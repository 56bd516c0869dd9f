//! In which form designs are printed and written.

use std::path::Path;

use super::Args;
use crate::exit::Failure;
use crate::inputs;
use crate::result_file::{self, not_written};
use crate::stream;

/// A form of designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// Text in 80 columns.
    Text,
    /// Tables in Markdown.
    Markdown,
    /// A row for each design, separated by commas.
    Csv,
    /// A self-contained page.
    Html,
    /// JSON, as `--json` prints it.
    Json,
}

/// What goes to the standard output, and what into a file.
pub(super) struct Forms {
    pub(super) printed: Form,
    pub(super) written: Option<(String, Form)>,
}

impl Form {
    /// Returns the forms that arguments with several files of needs ask for.
    pub(super) fn of(args: &Args) -> Result<Forms, Failure> {
        let one = [("--explain", args.explain.is_some()), ("--pareto", args.pareto)];
        let mut one = one.into_iter().chain([("--among", !args.among.is_empty())]);
        if let Some((option, _)) = one.find(|(_, is_there)| *is_there) {
            let n_files = args.needs.len();
            let text = format!("`{option}` is about one file of needs, and {n_files} are named");
            return Err(Failure::wrong_use(text).hint("name the one that it is about"));
        }
        let printed = match args.form {
            Some(form) => form,
            None if args.json => Form::Json,
            None => Form::Text,
        };
        let written = args.output.as_ref().map(|path| {
            let form = Form::of_file(path).ok_or_else(|| {
                let text = format!("`{path}`: several needs give a table or a page");
                Failure::wrong_use(text)
                    .hint("name a file that ends in .html, .md, .csv or .json")
                    .hint("a design as TOML is of one file of needs")
            })?;
            Ok::<_, Failure>((path.clone(), form))
        });
        Ok(Forms { printed, written: written.transpose()? })
    }

    /// Says what a file of the form is.
    pub(super) fn words(self) -> &'static str {
        match self {
            Form::Text => "all designs as text",
            Form::Markdown => "all designs as Markdown",
            Form::Csv => "all designs as a table",
            Form::Html => "all designs as a page",
            Form::Json => "all designs as JSON",
        }
    }

    /// Returns the form that the name of a file asks for.
    pub(super) fn of_file(path: &str) -> Option<Form> {
        let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(Form::Html),
            "md" => Some(Form::Markdown),
            "csv" => Some(Form::Csv),
            "json" => Some(Form::Json),
            "txt" => Some(Form::Text),
            _ => None,
        }
    }
}

/// Writes a file, whole or not at all, and says so, with what is in it.
pub(super) fn write(path: &str, text: &str, what: &str) -> Result<(), Failure> {
    let path = Path::new(path);
    inputs::refuse(path)?;
    result_file::write(path, text.as_bytes()).map_err(|error| not_written(path, &error))?;
    stream::print_message(&format!("wrote {} ({what})\n", path.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_is_its_form() {
        assert_eq!(Form::of_file("a/estate.HTML"), Some(Form::Html));
        assert_eq!(Form::of_file("a.b/estate.csv"), Some(Form::Csv));
        assert_eq!(Form::of_file("best.toml"), None);
        assert_eq!(Form::of_file("html"), None);
    }
}
