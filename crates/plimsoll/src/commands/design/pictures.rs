//! The charts of a page of designs.

use ::design::{Judged, Price};
use report::{
    Axis, Cell, ChartSpec, Colour, DashStyle, Marker, Quantity, Rule, Scale, Series, Table,
};
use units::format_number;

use super::explain::ON_CREDITS;
use super::json;
use super::text::{cents, dollars, unit_of};

/// A design that is shown in detail: the best of a cloud, or what comes nearest.
pub(super) struct Shown {
    pub(super) cloud: String,
    pub(super) judged: Judged,
}

/// Most caps in one chart; its table has all.
const CAPS_MAX: usize = 16;

/// Least height of a chart with one row, and of each further row, pixels.
const ROW_PX: u32 = 26;

/// A design as a point of the chart of prices.
pub(super) struct PricePoint {
    pub(super) headroom: f64,
    pub(super) price: Price,
    /// What it is made of.
    pub(super) text: String,
}

impl PricePoint {
    /// Returns whether it has a place in the chart.
    fn is_drawn(&self) -> bool {
        self.headroom.is_finite() && !self.price.is_unpriced
    }
}

/// What a place has to be drawn.
pub(super) struct PlacePrices {
    pub(super) place: String,
    /// The cheapest designs for more and more headroom.
    pub(super) front: Vec<PricePoint>,
    /// The other designs of the table.
    pub(super) others: Vec<PricePoint>,
}

/// Draws what more headroom costs; `None` where nothing carries the need.
pub(super) fn price_against_headroom(places: &[PlacePrices]) -> Option<ChartSpec> {
    let mut series = Vec::new();
    let mut table = Table::new(&[
        ("cloud", "cloud"),
        ("headroom, %", "headroom_pct"),
        ("USD a month", "price_usd"),
        ("design", "design"),
    ]);
    for (idx, of) in places.iter().enumerate() {
        for point in of.front.iter().filter(|it| it.is_drawn()) {
            table.rows.push(vec![
                Cell::text(&*of.place),
                Cell::number(json::percent(point.headroom), 0),
                usd(point.price),
                Cell::text(&*point.text),
            ]);
        }
        let colour = Colour::Of((idx % 6) as u8);
        series.push(points(&of.front, &of.place, colour, Marker::Circle, true));
        series.push(points(&of.others, &of.place, colour, Marker::Cross, false));
    }
    series.retain(|it| !it.x.is_empty());
    if series.is_empty() {
        return None;
    }
    Some(ChartSpec {
        id: "price-against-headroom".to_owned(),
        title: "Price against headroom".to_owned(),
        about: "What the cheapest design with at least so much headroom costs; crosses are the \
                other designs of the table."
            .to_owned(),
        height_px: 340,
        x: axis("headroom of the tightest cap, %"),
        y: axis("USD a month"),
        series,
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: vec![
            "Each carries at least a tenth more than the one before, up to five times the need."
                .to_owned(),
        ],
        source: String::new(),
        thinned: None,
        table,
    })
}

/// Returns a price as a figure.
pub(super) fn usd(price: Price) -> Cell {
    let usd = price.usd();
    Cell::Number(cents(usd) as f64 / 100.0, dollars(usd))
}

fn axis(title: &str) -> Axis {
    Axis { title: title.to_owned(), ..Axis::default() }
}

fn points(all: &[PricePoint], name: &str, colour: Colour, marker: Marker, is_line: bool) -> Series {
    let drawn = || all.iter().filter(|it| it.is_drawn());
    Series {
        name: name.to_owned(),
        colour,
        dash: DashStyle::Solid,
        marker: Some(marker),
        is_line,
        x: drawn().map(|it| it.headroom * 100.0).collect(),
        y: drawn().map(|it| Some(it.price.usd())).collect(),
        texts: drawn().map(|it| it.text.clone()).collect(),
        ..Series::default()
    }
}

/// A cap in a phase.
struct CapRow {
    name: String,
    used_pct: f64,
    is_on_credits: bool,
    /// I/Os or MB per second.
    asked: f64,
    carries: f64,
}

/// Returns every cap in each phase, the fullest first.
fn cap_rows(shown: &Shown) -> Vec<CapRow> {
    let mut rows = Vec::new();
    for phase in &shown.judged.phases {
        for cap in &phase.caps {
            let (_, scale) = unit_of(cap.cap.bound);
            let name = cap.cap.name.trim_start_matches("Standard_");
            rows.push(CapRow {
                name: format!("{} of {name}, {}", cap.cap.bound, phase.phase),
                used_pct: cap.share() * 100.0,
                is_on_credits: cap.is_on_credits(),
                asked: cap.used / scale,
                carries: cap.cap.per_s / scale,
            });
        }
    }
    rows.sort_by(|a, b| b.used_pct.total_cmp(&a.used_pct));
    rows
}

fn cap_table(rows: &[CapRow]) -> Table {
    let mut table = Table::new(&[
        ("cap and phase", "cap"),
        ("used, %", "used_pct"),
        ("asked, IOPS or MB/s", "asked"),
        ("carries, IOPS or MB/s", "carries"),
    ]);
    let row = |it: &CapRow| {
        vec![
            Cell::text(&*it.name),
            Cell::number(it.used_pct, 1),
            Cell::Number(it.asked, format_number(it.asked)),
            Cell::Number(it.carries, format_number(it.carries)),
        ]
    };
    table.rows = rows.iter().map(row).collect();
    table
}

/// Makes bars of those rows that are in; the others have their places anyway.
fn bars(rows: &[CapRow], name: &str, colour: Colour, is_in: fn(&CapRow) -> bool) -> Series {
    let own = rows.iter().enumerate().filter(|(_, row)| is_in(row));
    let own: Vec<(usize, &CapRow)> = own.collect();
    let text =
        |row: &CapRow| format!("{} of {}", format_number(row.asked), format_number(row.carries));
    Series {
        name: name.to_owned(),
        colour,
        is_bar: true,
        x: own.iter().map(|(_, row)| row.used_pct).collect(),
        y: own.iter().map(|(at, _)| Some(*at as f64)).collect(),
        texts: own.iter().map(|(_, row)| text(row)).collect(),
        ..Series::default()
    }
}

/// Percent above which a cap carries less than is asked: all of it, and rounding.
const FULL_PCT: f64 = 100.0 + 1e-6;

/// Draws how much of each cap is asked for, a bar for each cap and phase.
pub(super) fn utilisation(idx: usize, shown: &Shown) -> ChartSpec {
    let mut rows = cap_rows(shown);
    let (n_rows, table) = (rows.len(), cap_table(&rows));
    rows.truncate(CAPS_MAX);
    let mut series = vec![
        bars(&rows, "within the cap", Colour::Of(0), |it| {
            it.used_pct <= FULL_PCT && !it.is_on_credits
        }),
        bars(&rows, "carried on burst credits", Colour::Of(1), |it| it.is_on_credits),
        bars(&rows, "more than it carries", Colour::Bad, |it| it.used_pct > FULL_PCT),
    ];
    series.retain(|it| !it.x.is_empty());
    let most = rows.iter().map(|row| row.used_pct).fold(100.0, f64::max);
    let is_cut = n_rows > CAPS_MAX;
    let on_credits = rows.iter().any(|it| it.is_on_credits).then(|| ON_CREDITS.to_owned());
    let cut = format!("The {CAPS_MAX} that are used most; the table has all {n_rows}.");
    ChartSpec {
        id: format!("utilisation-{idx}"),
        title: shown.cloud.clone(),
        about: "Share of each cap that is asked for, in each phase; the fullest binds first."
            .to_owned(),
        height_px: 84 + ROW_PX * rows.len() as u32,
        x: Axis {
            title: "asked of what it carries, %".to_owned(),
            quantity: Quantity::Number,
            range: Some((0.0, most * 1.05)),
            ..Axis::default()
        },
        y: Axis {
            scale: Scale::Categories,
            categories: rows.iter().map(|row| row.name.clone()).collect(),
            ..Axis::default()
        },
        series,
        spans: Vec::new(),
        rules: vec![Rule {
            is_across: false,
            at: 100.0,
            text: String::new(),
            colour: Colour::Plain,
            dash: DashStyle::Dash,
        }],
        cells: None,
        notes: is_cut.then_some(cut).into_iter().chain(on_credits).collect(),
        source: String::new(),
        thinned: None,
        table,
    }
}
