//! Terraform's language, written as `terraform fmt` leaves it.

use crate::quote;
use crate::variable::Variable;

/// A block with attributes and further blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    head: String,
    attributes: Vec<(String, String)>,
    blocks: Vec<Block>,
}

impl Block {
    /// Makes a block: `Block::new("resource", &["aws_instance", "machine"])`.
    pub(crate) fn new(kind: &str, labels: &[&str]) -> Self {
        let mut head = kind.to_owned();
        for label in labels {
            head.push(' ');
            head.push_str(&quote::hcl(label));
        }
        Block { head, ..Block::default() }
    }

    /// Adds an attribute whose value is text.
    #[must_use]
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, quote::hcl(value))
    }

    /// Adds an attribute whose value is an expression, a number or a flag.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts read alike at the caller")]
    pub(crate) fn raw(mut self, name: &str, value: impl ToString) -> Self {
        self.attributes.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds an attribute if there is a value.
    #[must_use]
    pub(crate) fn maybe(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a block within.
    #[must_use]
    pub(crate) fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Prints it, with a blank line before what follows.
    pub(crate) fn print(&self, depth: usize, to: &mut String) {
        let indent = "  ".repeat(depth);
        if self.attributes.is_empty() && self.blocks.is_empty() {
            to.push_str(&format!("{indent}{} {{}}\n", self.head));
            return;
        }
        to.push_str(&format!("{indent}{} {{\n", self.head));
        let width = self.attributes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in &self.attributes {
            to.push_str(&format!("{indent}  {name:width$} = {value}\n"));
        }
        for (idx, block) in self.blocks.iter().enumerate() {
            if idx > 0 || !self.attributes.is_empty() {
                to.push('\n');
            }
            block.print(depth + 1, to);
        }
        to.push_str(&format!("{indent}}}\n"));
    }
}

/// Prints blocks, with a blank line between.
pub(crate) fn print(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        text.push('\n');
        block.print(0, &mut text);
    }
    text
}

/// Returns an identifier: a slug with `_` for `-`.
pub(crate) fn identifier(slug: &str) -> String {
    slug.replace('-', "_")
}

/// Returns the block that asks for a variable.
pub(crate) fn variable(variable: Variable) -> Block {
    Block::new("variable", &[variable.name])
        .raw("type", "string")
        .text("description", variable.what)
}

/// Returns a variable with what the design says, if it does.
pub(crate) fn or_given(given: Variable, value: Option<&str>) -> Block {
    match value {
        Some(value) => variable(given).text("default", value),
        None => variable(given),
    }
}

pub(crate) fn var(variable: Variable) -> String {
    format!("var.{}", variable.name)
}
