//! Needs as TOML, in an order that people read, with one figure a line.

use super::{Amount, Figure, Needs};

const HEADER: &str = "\
# What an application asks of its storage. Percentiles of rates are over time, those of shares
# and latencies over I/Os. Each figure is measured, estimated or assumed, and says where it is from.
# One number in place of { .. } is a figure as well: iops = 5000.
";

/// Prints needs.
pub(super) fn print(needs: &Needs) -> String {
    let mut text = String::from(HEADER);
    text.push_str(&format!("schema = {}\n", quoted(&needs.schema)));
    text.push_str(&format!("name = {}\n", quoted(&needs.name)));
    if let Some(series) = &needs.series {
        text.push_str(&format!("series = {}\n", quoted(series)));
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
    for source in &needs.sources {
        let (name, form, clock) = (quoted(&source.name), quoted(&source.form), &source.clock);
        text.push_str(&format!("\n[[source]]\nname = {name}\nform = {form}\n"));
        text.push_str(&format!("clock = {}\n", quoted(clock)));
    }
    for volume in &needs.volumes {
        text.push_str(&format!("\n[[volume]]\nname = {}\n", quoted(&volume.name)));
        put_amount(&mut text, "capacity_gib", volume.capacity_gib.as_ref());
        put_amount(&mut text, "used_gib", volume.used_gib.as_ref());
    }
    for phase in &needs.phases {
        text.push_str(&format!("\n[[phase]]\nname = {}\n", quoted(&phase.name)));
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

fn put_figure(text: &mut String, key: &str, figure: Option<&Figure>) {
    let Some(figure) = figure else { return };
    let values = [
        ("p50", figure.p50),
        ("p90", figure.p90),
        ("p99", figure.p99),
        ("mean", figure.mean),
        ("min", figure.min),
        ("max", figure.max),
    ];
    text.push_str(&format!("{key} = {{ "));
    for (name, value) in values {
        if let Some(value) = value {
            text.push_str(&format!("{name} = {}, ", number(value)));
        }
    }
    let (label, source) = (quoted(figure.label.word()), quoted(&figure.source));
    text.push_str(&format!("label = {label}, source = {source} }}\n"));
}

fn put_amount(text: &mut String, key: &str, amount: Option<&Amount>) {
    let Some(Amount { value, label, source }) = amount else { return };
    let (value, label, source) = (number(*value), quoted(label.word()), quoted(source));
    text.push_str(&format!("{key} = {{ value = {value}, label = {label}, source = {source} }}\n"));
}

/// Prints a number with the digits that mean something: four behind the point at most.
pub(super) fn number(value: f64) -> String {
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

/// Prints a string of TOML. JSON's are the same but for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
