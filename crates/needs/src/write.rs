//! Needs as TOML, in an order that people read, with one figure a line.

use plan::keys::quoted;

use crate::{Amount, Figure, Growth, Needs, SCHEMA};

const HEADER: &str = "\
# What an application asks of its storage. Percentiles of rates are over time, those of shares
# and latencies over I/Os. Each figure is measured, estimated or assumed, and says where it is from.
# A single number may stand in place of { .. }: iops = 5000.
";

impl Needs {
    /// Prints them as a file that [`crate::parse`] reads.
    pub fn to_toml(&self) -> String {
        let mut text = String::from(HEADER);
        put_head(&mut text, self);
        if !self.machine.is_empty() {
            text.push_str("\n[machine]\n");
            for (key, amount) in self.machine.amounts() {
                put_amount(&mut text, key, amount);
            }
        }
        for source in &self.sources {
            let (name, form, clock) = (quoted(&source.name), quoted(&source.form), &source.clock);
            text.push_str(&format!("\n[[source]]\nname = {name}\nform = {form}\n"));
            text.push_str(&format!("clock = {}\n", quoted(clock)));
        }
        for volume in &self.volumes {
            text.push_str(&format!("\n[[volume]]\nname = {}\n", quoted(&volume.name)));
            if let Some(usage) = volume.usage {
                text.push_str(&format!("use = {}\n", quoted(usage.word())));
            }
            for (key, amount) in volume.amounts() {
                put_amount(&mut text, key, amount);
            }
            if volume.is_shared {
                text.push_str("shared = true\n");
            }
            put_growth(&mut text, volume.growth);
        }
        for phase in &self.phases {
            text.push_str(&format!("\n[[phase]]\nname = {}\n", quoted(phase.name.word())));
            if !phase.hours.is_empty() {
                let hours: Vec<String> = phase.hours.iter().map(|hours| quoted(hours)).collect();
                text.push_str(&format!("hours = [{}]\n", hours.join(", ")));
            }
            if let Some(captured_s) = phase.captured_s {
                text.push_str(&format!("captured_s = {}\n", number(captured_s)));
            }
            for (key, figure) in phase.figures() {
                put_figure(&mut text, key, figure);
            }
            for load in &phase.volumes {
                text.push_str(&format!("\n[[phase.volume]]\nname = {}\n", quoted(&load.name)));
                for (key, figure) in load.figures() {
                    put_figure(&mut text, key, figure);
                }
                for (key, amount) in load.amounts() {
                    put_amount(&mut text, key, amount);
                }
            }
        }
        text
    }
}

fn put_head(text: &mut String, needs: &Needs) {
    text.push_str(&format!("schema = {}\n", quoted(SCHEMA)));
    text.push_str(&format!("name = {}\n", quoted(&needs.name)));
    if let Some(series) = &needs.series {
        text.push_str(&format!("series = {}\n", quoted(series)));
    }
    if needs.percentile != crate::Percentile::default() {
        text.push_str(&format!("percentile = {}\n", quoted(needs.percentile.word())));
    }
    put_growth(text, needs.growth);
    if let Some(factor) = needs.peak_factor {
        text.push_str(&format!("peak_factor = {}\n", number(factor)));
    }
    if let Some(cpus) = needs.cpus {
        text.push_str(&format!("cpus = {cpus}\n"));
    }
    if !needs.notes.is_empty() {
        text.push_str("notes = [\n");
        for note in &needs.notes {
            text.push_str(&format!("  {},\n", quoted(note)));
        }
        text.push_str("]\n");
    }
}

fn put_growth(text: &mut String, growth: Option<Growth>) {
    let Some(Growth { capacity, load }) = growth else { return };
    let (capacity, load) = (number(capacity), number(load));
    text.push_str(&format!("growth = {{ capacity = {capacity}, load = {load} }}\n"));
}

fn put_figure(text: &mut String, key: &str, figure: Option<&Figure>) {
    let Some(figure) = figure else { return };
    if let Some(value) = figure.p50.filter(|value| *figure == Figure::by_hand(*value)) {
        text.push_str(&format!("{key} = {}\n", number(value)));
        return;
    }
    text.push_str(&format!("{key} = {{ "));
    for (name, value) in figure.values() {
        if let Some(value) = value {
            text.push_str(&format!("{name} = {}, ", number(value)));
        }
    }
    let (label, source) = (quoted(figure.label.word()), quoted(&figure.source));
    text.push_str(&format!("label = {label}, source = {source} }}\n"));
}

fn put_amount(text: &mut String, key: &str, amount: Option<&Amount>) {
    let Some(amount) = amount else { return };
    let Amount { value, label, source } = amount;
    if *amount == Amount::by_hand(*value) {
        text.push_str(&format!("{key} = {}\n", number(*value)));
        return;
    }
    let (value, label, source) = (number(*value), quoted(label.word()), quoted(source));
    text.push_str(&format!("{key} = {{ value = {value}, label = {label}, source = {source} }}\n"));
}

/// Returns whether a number is 0 as it is printed.
pub fn is_printed_as_0(value: f64) -> bool {
    number(value) == "0"
}

/// Prints a number with the digits that mean something: four behind the point at most.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    // Whole numbers of TOML end at 2^63.
    if value.is_finite() && value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
