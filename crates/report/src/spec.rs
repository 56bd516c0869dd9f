//! One chart as data: what the page's script draws, what its table lists, and what tests compare
//! with the record.

use serde::{Serialize, Serializer};

use crate::table::Table;

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartSpec {
    /// Unique on the page; lower-case letters, digits and `-`.
    pub id: String,
    /// What is drawn.
    pub title: String,
    /// One sentence that says what the picture shows: its text alternative.
    pub about: String,
    /// Height on a wide screen, pixels.
    pub height_px: u32,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Lines and points.
    pub series: Vec<Series>,
    /// Shaded spans of x.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Straight lines through the whole chart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Coloured cells, in place of series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
    /// Sentences beneath: what was left out, and how to read it.
    pub notes: Vec<String>,
    /// Where and how it was measured, in one line.
    pub source: String,
    /// Samples that the chart stands for, and points that are drawn for them where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinned: Option<Thinned>,
    /// The figures behind the picture.
    #[serde(skip)]
    pub table: Table,
}

/// How many samples became how many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Thinned {
    /// Samples of the record.
    pub n_samples: usize,
    /// Points along x.
    pub n_points: usize,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Axis {
    /// Quantity and unit.
    pub title: String,
    /// How values are laid out.
    pub scale: Scale,
    /// What values are, for the pointer.
    pub quantity: Quantity,
    /// Marked values with their texts; none where the script may choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<Tick>,
    /// Names of the categories, in order, the first at the left or the top.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Lowest and highest value shown; none to fit the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
}

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly, zero included.
    #[default]
    Linear,
    /// Evenly, as far as the values go.
    Fitted,
    /// By the logarithm.
    Log,
    /// Names; values are their positions from 0.
    Categories,
}

/// What the values of an axis are: how the pointer shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Numbers.
    #[default]
    Number,
    /// Rates, shown in thousands and millions.
    Rate,
    /// Nanoseconds.
    LatencyNs,
    /// Seconds since the start.
    TimeS,
    /// `1 / (1 - share)`.
    Nines,
    /// Percent with their sign.
    DifferencePct,
}

/// A marked value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tick {
    /// The value.
    pub at: f64,
    /// What stands there.
    pub text: String,
}

/// A line, or points.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Series {
    /// What it is; stands in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// Its stroke, beside the colour.
    pub dash: DashStyle,
    /// Its points, beside the colour; none where the line is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<Marker>,
    /// Points are joined.
    pub is_line: bool,
    /// Values along x.
    pub x: Vec<f64>,
    /// Values along y; none is a gap.
    pub y: Vec<Option<f64>>,
    /// Lower and upper end for each point: a band along a line, bars at points. Along x where the
    /// y axis has categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<Option<(f64, f64)>>,
    /// Bars from zero along x, in place of points: the y axis has categories.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_bar: bool,
    /// Points that broke a limit, by position: drawn hollow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hollow: Vec<usize>,
    /// A text for each point, for the pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}

impl Series {
    fn must_be_whole(&self, id: &str) {
        let (name, n, n_y) = (&self.name, self.x.len(), self.y.len());
        assert!(n == n_y, "`{name}` of `{id}` has {n} values along x, and {n_y} along y");
        for (what, n_other) in [("ends", self.ends.len()), ("texts", self.texts.len())] {
            assert!(
                n_other == 0 || n_other == n,
                "`{name}` of `{id}`: {n_other} {what}, {n} points"
            );
        }
        let beyond = self.hollow.iter().find(|at| **at >= n);
        assert!(beyond.is_none(), "point {beyond:?} of {n} of `{name}` of `{id}` is hollow");
        assert!(self.colour.is_known(), "`{name}` of `{id}` has the colour {:?}", self.colour);
    }
}

/// What a series' colour means. The script has the colours, one set for light and one for dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Colour {
    /// One of six that colour-blind readers tell apart.
    Of(u8),
    /// A shade of one of the first two of those: 0 the lightest to 3 the strongest.
    Shade(u8, u8),
    /// That of text.
    #[default]
    Plain,
    /// For what went well.
    Good,
    /// For what did not.
    Bad,
}

impl Colour {
    /// Returns whether the script has it.
    fn is_known(self) -> bool {
        match self {
            Colour::Of(idx) => idx < 6,
            Colour::Shade(idx, shade) => idx < 2 && shade < 4,
            Colour::Plain | Colour::Good | Colour::Bad => true,
        }
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Colour::Of(idx) => to.collect_str(&format_args!("c{idx}")),
            Colour::Shade(idx, shade) => to.collect_str(&format_args!("c{idx}s{shade}")),
            Colour::Plain => to.serialize_str("plain"),
            Colour::Good => to.serialize_str("good"),
            Colour::Bad => to.serialize_str("bad"),
        }
    }
}

/// A stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DashStyle {
    /// Unbroken.
    #[default]
    Solid,
    /// Long strokes.
    Dash,
    /// Dots.
    Dot,
    /// Both.
    DashDot,
}

/// The shape of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle.
    TriangleUp,
    /// A triangle on its corner.
    TriangleDown,
    /// A cross.
    Cross,
}

impl Marker {
    /// All, in the order in which series take them.
    pub(crate) const ALL: [Marker; 6] = units::all_of!(
        Marker:
        Circle, Square, Diamond, TriangleUp, TriangleDown, Cross,
    );
}

/// A shaded span of x.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Its ends.
    pub from: f64,
    /// The upper one.
    pub to: f64,
    /// What it is.
    pub text: String,
    /// How it looks.
    pub kind: SpanKind,
}

/// What a span says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// Not part of the result.
    Left,
    /// The result rests on it.
    Kept,
    /// A range that holds a figure.
    Range,
}

/// A straight line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Across, at a value of y; else upright, at a value of x.
    pub is_across: bool,
    /// The value.
    pub at: f64,
    /// What it is; empty for a line that needs no word.
    pub text: String,
    /// Its colour.
    pub colour: Colour,
    /// Its stroke.
    pub dash: DashStyle,
}

/// Coloured cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cells {
    /// What the colour means, with its unit.
    pub title: String,
    /// Where columns begin, and where the last one ends; positions of categories where x has them.
    pub x: Vec<f64>,
    /// The same for rows.
    pub y: Vec<f64>,
    /// Row by row; none is empty.
    pub values: Vec<Vec<Option<f64>>>,
    /// What stands in each cell; empty where there are too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Vec<String>>,
    /// Colour goes by the logarithm of the value.
    pub is_log: bool,
}

impl Cells {
    fn must_be_whole(&self, id: &str) {
        let (n_rows, n_columns) = (self.values.len(), self.x.len().saturating_sub(1));
        let n_edges = self.y.len();
        assert!(n_rows + 1 == n_edges, "`{id}` has {n_rows} rows of cells between {n_edges} edges");
        let is_wide = |n: usize| n == n_columns;
        let odd = self.values.iter().map(Vec::len).find(|n| !is_wide(*n));
        assert!(
            odd.is_none(),
            "a row of `{id}` has {odd:?} cells, and {n_columns} columns are drawn"
        );
        let n_texts: Vec<usize> = self.texts.iter().map(Vec::len).collect();
        let is_whole = n_texts.is_empty() || n_texts == vec![n_columns; n_rows];
        assert!(is_whole, "the {n_rows} rows of `{id}` have texts for {n_texts:?} cells");
    }
}

impl ChartSpec {
    /// Checks that the script can draw it, before a page has it: it takes what belongs together by
    /// position.
    ///
    /// # Panics
    /// If its id is none, or its parts do not fit together.
    pub(crate) fn must_be_whole(&self) {
        let ChartSpec { id, height_px, x, y, series, cells, .. } = self;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!id.is_empty() && id.chars().all(is_plain), "a chart has the id `{id}`");
        assert!(*height_px > 0, "the chart `{id}` is {height_px} pixels high");
        for axis in [x, y] {
            let (title, n) = (&axis.title, axis.categories.len());
            let has_names = axis.scale == Scale::Categories;
            assert!(
                has_names == (n > 0),
                "`{title}` of `{id}` has {n} names, by its scale: {has_names}"
            );
        }
        for one in series {
            one.must_be_whole(id);
        }
        for rule in &self.rules {
            assert!(rule.colour.is_known(), "a rule of `{id}` has the colour {:?}", rule.colour);
        }
        if let Some(cells) = cells {
            assert!(series.is_empty(), "`{id}` has cells and {} series", series.len());
            cells.must_be_whole(id);
        }
        if let Some(Thinned { n_samples, n_points }) = self.thinned {
            assert!(n_points <= n_samples, "{n_points} points of `{id}` are {n_samples} samples");
        }
        self.table.must_be_whole(id);
    }

    /// Returns the number of points that are drawn: those of the series that have a value, or the
    /// cells that are not empty.
    pub fn n_drawn(&self) -> usize {
        let points = self.series.iter().flat_map(|series| &series.y).filter(|y| y.is_some());
        let cells = self.cells.iter().flat_map(|cells| cells.values.iter().flatten());
        points.count() + cells.filter(|value| value.is_some()).count()
    }
}
