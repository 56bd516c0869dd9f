//! What many steps show together: a row each, and the matrices and lines that they span.

use export::Run;
use record::{Figure, Figures, Record, SuiteRowRecord};
use units::{format_iops, plural};

use crate::axis;
use crate::spec::{Cells, ChartSpec, Colour, DashStyle, Marker, Series};
use crate::table::{Cell, Table};
use crate::view::{Step, results, steps};
use crate::words::round_bytes;

/// A step of one of the runs with what tells it from the others.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) figures: Figures,
    pub(super) block_size: Option<u64>,
    pub(super) read_pct: Option<u32>,
    pub(super) is_random: Option<bool>,
    pub(super) is_direct: Option<bool>,
    depth: Option<u32>,
    n_workers: u32,
}

/// What steps must have in common besides what a chart tells apart: a step with more in flight, or
/// through a cache, says nothing of the others.
type Setting = (Option<bool>, Option<u32>, u32);

impl Shape {
    fn of(step: &Step<'_>) -> Self {
        Shape {
            name: step.name.clone(),
            figures: step.figures(),
            block_size: step.block_size(),
            read_pct: step.read_pct(),
            is_random: step.is_random(),
            is_direct: step.is_direct(),
            depth: step.depth(),
            n_workers: step.n_workers(),
        }
    }

    fn setting(&self) -> Setting {
        (self.is_direct, self.depth, self.n_workers)
    }

    fn order(&self) -> &'static str {
        match self.is_random {
            Some(true) => "random",
            Some(false) => "sequential",
            None => "",
        }
    }
}

/// Returns the shapes of a record's steps, without those of its load curve, which are its points. A
/// suite has one for each of its rows.
fn shapes(record: &Record) -> Vec<Shape> {
    if let Some(suite) = &record.suite {
        let steps = steps(record);
        let of_row = |row: &SuiteRowRecord| {
            let last = row.steps.last()?;
            let step = steps.iter().find(|step| step.idx == *last)?;
            Some(Shape { name: row.label.clone(), figures: row.medians(), ..Shape::of(step) })
        };
        return suite.rows.iter().filter(|row| !row.preparation).filter_map(of_row).collect();
    }
    let is_point = |idx: u32| {
        record.curve.iter().flat_map(|curve| &curve.points).any(|point| point.step_idx == idx)
    };
    results(record).iter().filter(|step| !is_point(step.idx)).map(Shape::of).collect()
}

/// Returns the steps of some runs that carried something.
pub(super) fn shapes_of(runs: &[Run]) -> Vec<Shape> {
    let all = runs.iter().flat_map(|run| shapes(&run.record));
    all.filter(|shape| shape.figures.iops() > 0.0).collect()
}

/// Returns the charts that the steps of some runs span.
pub(crate) fn charts(runs: &[Run], source: &str) -> Vec<ChartSpec> {
    let shapes = shapes_of(runs);
    if shapes.len() < 2 {
        return Vec::new();
    }
    let mut charts = Vec::new();
    // A suite has a picture of its rows.
    if runs.iter().all(|run| run.record.suite.is_none()) && shapes.len() <= ROWS_MAX {
        charts.push(all(&shapes));
    }
    for order in ["random", "sequential", ""] {
        let own: Vec<&Shape> = shapes.iter().filter(|shape| shape.order() == order).collect();
        charts.extend(of_each_setting(&own, |own| size_by_mix(own, order)));
        charts.extend(of_each_setting(&own, |own| mix(own, order)));
        let (own, load) = of_one_load(&own);
        charts.extend(depth_by_jobs(&own, order).map(|chart| with_load(chart, &load)));
        charts.extend(depths(&own, order).map(|chart| with_load(chart, &load)));
    }
    charts.extend(of_each_setting(&shapes.iter().collect::<Vec<_>>(), sizes));
    for chart in &mut charts {
        source.clone_into(&mut chart.source);
    }
    charts
}

/// Most charts of one kind.
const SETTINGS_MAX: usize = 4;

/// Makes a chart of the steps of each setting, as far as they span one.
fn of_each_setting(
    shapes: &[&Shape],
    make: impl Fn(&[&Shape]) -> Option<ChartSpec>,
) -> Vec<ChartSpec> {
    let mut settings: Vec<Setting> = Vec::new();
    for shape in shapes {
        if !settings.contains(&shape.setting()) {
            settings.push(shape.setting());
        }
    }
    let mut charts: Vec<ChartSpec> = Vec::new();
    for setting in &settings {
        let own: Vec<&Shape> =
            shapes.iter().copied().filter(|shape| shape.setting() == *setting).collect();
        let Some(mut chart) = make(&own) else { continue };
        if settings.len() > 1 {
            chart.title = format!("{}, {}", chart.title, setting_words(*setting));
        }
        if !charts.is_empty() {
            chart.id = format!("{}-{}", chart.id, charts.len() + 1);
        }
        charts.push(chart);
    }
    charts.truncate(SETTINGS_MAX);
    charts
}

fn setting_words((is_direct, depth, n_workers): Setting) -> String {
    let workers = plural(n_workers, "worker");
    let depth = depth.map_or_else(String::new, |depth| format!(" x depth {depth}"));
    let cache = match is_direct {
        Some(true) => ", direct",
        Some(false) => ", through the page cache",
        None => "",
    };
    format!("{workers}{depth}{cache}")
}

/// Returns the steps of the block size and mix that most steps have: depths of different I/O do not
/// compare.
fn of_one_load<'a>(shapes: &[&'a Shape]) -> (Vec<&'a Shape>, String) {
    let load = |shape: &Shape| (shape.block_size, shape.read_pct, shape.is_direct);
    let count = |wanted: &Shape| shapes.iter().filter(|it| load(it) == load(wanted)).count();
    // Of equally many the first.
    let most = shapes.iter().rev().max_by_key(|shape| count(shape));
    let Some(most) = most else { return (Vec::new(), String::new()) };
    let own = shapes.iter().copied().filter(|shape| load(shape) == load(most)).collect();
    let size = most.block_size.map_or_else(|| "mixed sizes".to_owned(), round_bytes);
    let mix = most.read_pct.map_or_else(String::new, |pct| format!(", {pct} % reads"));
    (own, format!("Steps of {size}{mix}."))
}

fn with_load(mut chart: ChartSpec, load: &str) -> ChartSpec {
    chart.notes.push(load.to_owned());
    chart
}

/// Most steps of the overview, a row each: with more it fills a screen, and a table says it better.
const ROWS_MAX: usize = 15;

/// Returns all steps as a table where they are too many for the overview.
pub(crate) fn long_table(runs: &[Run]) -> Option<Table> {
    let is_suite = runs.iter().any(|run| run.record.suite.is_some());
    let shapes = shapes_of(runs);
    (!is_suite && shapes.len() > ROWS_MAX).then(|| table_of(&shapes))
}

pub(super) fn table_of(shapes: &[Shape]) -> Table {
    let mut table = Table::new(&[("step", "step")]).figures(Figure::OF_STEP);
    for shape in shapes {
        let mut row = vec![Cell::text(shape.name.as_str())];
        row.extend(Cell::figures(&shape.figures, Figure::OF_STEP));
        table.rows.push(row);
    }
    table
}

/// A row per step, by its rate.
fn all(shapes: &[Shape]) -> ChartSpec {
    let text = |shape: &Shape| shape.figures.rates_shown();
    let values = Series {
        name: Figure::Iops.head().to_owned(),
        colour: Colour::Of(0),
        marker: Some(Marker::Circle),
        x: shapes.iter().map(|shape| round3(shape.figures.iops())).collect(),
        y: (0..shapes.len()).map(|row| Some(row as f64)).collect(),
        texts: shapes.iter().map(text).collect(),
        ..Series::default()
    };
    ChartSpec {
        id: "steps".to_owned(),
        title: "All steps".to_owned(),
        about: "The rate of each step, from zero.".to_owned(),
        height_px: 90 + 26 * shapes.len() as u32,
        x: axis::iops(),
        y: axis::categories("", shapes.iter().map(|shape| shape.name.clone()).collect()),
        series: vec![values],
        ..empty(table_of(shapes))
    }
}

/// A matrix: its rows and columns, and the value of each cell.
struct Matrix {
    id: String,
    title: String,
    about: String,
    x: (String, Vec<String>),
    y: (String, Vec<String>),
    values: Vec<Vec<Option<f64>>>,
}

/// Block size by share of reads.
fn size_by_mix(shapes: &[&Shape], order: &str) -> Option<ChartSpec> {
    let sizes = distinct(shapes, |shape| shape.block_size);
    let mixes = distinct(shapes, |shape| shape.read_pct);
    if sizes.len() < 2 || mixes.len() < 2 {
        return None;
    }
    let value = |size: u64, mix: u32| {
        best(shapes, |shape| shape.block_size == Some(size) && shape.read_pct == Some(mix))
    };
    let row = |size: &u64| mixes.iter().map(|mix| value(*size, *mix)).collect();
    let values: Vec<Vec<Option<f64>>> = sizes.iter().map(row).collect();
    // Half of it empty, such as a format beside one load, it compares nothing.
    let n_measured = values.iter().flatten().flatten().count();
    if 2 * n_measured <= sizes.len() * mixes.len() {
        return None;
    }
    Some(matrix(&Matrix {
        id: id("size-mix", order),
        title: title("Block size by mix", order),
        about: "IOPS of each block size and share of reads.".to_owned(),
        x: ("reads".to_owned(), mixes.iter().map(|mix| format!("{mix} %")).collect()),
        y: ("block size".to_owned(), sizes.iter().map(|size| round_bytes(*size)).collect()),
        values,
    }))
}

/// I/Os in flight by workers.
fn depth_by_jobs(shapes: &[&Shape], order: &str) -> Option<ChartSpec> {
    let depths = distinct(shapes, |shape| shape.depth);
    let workers = distinct(shapes, |shape| Some(shape.n_workers));
    if depths.len() < 2 || workers.len() < 2 {
        return None;
    }
    let value = |depth: u32, n: u32| {
        best(shapes, |shape| shape.depth == Some(depth) && shape.n_workers == n)
    };
    let row = |n: &u32| depths.iter().map(|depth| value(*depth, *n)).collect();
    Some(matrix(&Matrix {
        id: id("depth-jobs", order),
        title: title("Queue depth by workers", order),
        about: "IOPS of each queue depth per worker and number of workers.".to_owned(),
        x: ("queue depth of a worker".to_owned(), depths.iter().map(u32::to_string).collect()),
        y: ("workers".to_owned(), workers.iter().map(u32::to_string).collect()),
        values: workers.iter().map(row).collect(),
    }))
}

fn matrix(matrix: &Matrix) -> ChartSpec {
    let mut table = Table::new(&[(matrix.y.0.as_str(), "row"), (matrix.x.0.as_str(), "column")])
        .figures(&[Figure::Iops]);
    for (name, row) in matrix.y.1.iter().zip(&matrix.values) {
        for (column, value) in matrix.x.1.iter().zip(row) {
            let cells = [Cell::text(name.as_str()), Cell::text(column.as_str())];
            table.rows.push(cells.into_iter().chain([Cell::iops(*value)]).collect());
        }
    }
    let text = |value: &Option<f64>| value.map_or_else(String::new, format_iops);
    let edges = |n: usize| (0..=n).map(|at| at as f64 - 0.5).collect();
    let cells = Cells {
        title: Figure::Iops.head().to_owned(),
        x: edges(matrix.x.1.len()),
        y: edges(matrix.y.1.len()),
        values: matrix.values.clone(),
        texts: matrix.values.iter().map(|row| row.iter().map(text).collect()).collect(),
        is_log: false,
    };
    ChartSpec {
        id: matrix.id.clone(),
        title: matrix.title.clone(),
        about: matrix.about.clone(),
        height_px: 130 + 44 * matrix.y.1.len() as u32,
        x: axis::categories(&matrix.x.0, matrix.x.1.clone()),
        y: axis::categories(&matrix.y.0, matrix.y.1.clone()),
        cells: Some(cells),
        ..empty(table)
    }
}

/// Rate over the share of reads, a line per block size.
fn mix(shapes: &[&Shape], order: &str) -> Option<ChartSpec> {
    let mixes = distinct(shapes, |shape| shape.read_pct);
    let sizes = distinct(shapes, |shape| shape.block_size);
    if mixes.len() < 3 || sizes.is_empty() || sizes.len() > Marker::ALL.len() {
        return None;
    }
    let values: Vec<f64> = mixes.iter().map(|mix| f64::from(*mix)).collect();
    let line = |size: &u64| {
        let value = |mix: &u32| {
            best(shapes, |shape| shape.block_size == Some(*size) && shape.read_pct == Some(*mix))
        };
        (round_bytes(*size), mixes.iter().map(value).collect())
    };
    let lines: Vec<(String, Vec<Option<f64>>)> = sizes.iter().map(line).collect();
    let mut chart = self::lines("reads", "read_pct", &values, &lines);
    chart.id = id("mix", order);
    chart.title = title("Mix of reads and writes", order);
    chart.about = "IOPS over the share of reads.".into();
    chart.x = axis::marked("reads, %", &values, |mix| format!("{mix}"));
    Some(chart)
}

/// Rate over block size, a line for reads and one for writes.
fn sizes(all: &[&Shape]) -> Option<ChartSpec> {
    let sizes = distinct(all, |shape| shape.block_size);
    if sizes.len() < 3 {
        return None;
    }
    let values: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
    let mut kinds: Vec<(Option<bool>, u32)> =
        all.iter().filter_map(|shape| Some((shape.is_random, shape.read_pct?))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() > Marker::ALL.len() {
        return None;
    }
    let line = |(is_random, mix): &(Option<bool>, u32)| {
        let value = |size: &u64| {
            best(all, |shape| {
                let is_it = shape.is_random == *is_random && shape.read_pct == Some(*mix);
                is_it && shape.block_size == Some(*size)
            })
        };
        (kind_words(*is_random, *mix), sizes.iter().map(value).collect())
    };
    let lines: Vec<(String, Vec<Option<f64>>)> = kinds.iter().map(line).collect();
    let mut chart = self::lines("block size", "block_size_bytes", &values, &lines);
    chart.id = "sizes".into();
    chart.title = "Block sizes".into();
    chart.about = "IOPS over the block size.".into();
    chart.x = axis::powers("block size", &values, |size| round_bytes(size as u64));
    Some(chart)
}

/// Returns what I/O is called: `random reads`, `sequential, 70 % reads`.
pub(super) fn kind_words(is_random: Option<bool>, read_pct: u32) -> String {
    let order = match is_random {
        Some(true) => "random",
        Some(false) => "sequential",
        None => "",
    };
    let name = match read_pct {
        100 => format!("{order} reads"),
        0 => format!("{order} writes"),
        mix => format!("{order}, {mix} % reads"),
    };
    name.trim_start_matches([',', ' ']).to_owned()
}

/// Rate over the queue depth, a line per number of workers.
fn depths(shapes: &[&Shape], order: &str) -> Option<ChartSpec> {
    let depths = distinct(shapes, |shape| shape.depth);
    let workers = distinct(shapes, |shape| Some(shape.n_workers));
    if depths.len() < 3 || workers.len() > Marker::ALL.len() {
        return None;
    }
    let values: Vec<f64> = depths.iter().map(|depth| f64::from(*depth)).collect();
    let line = |n: &u32| {
        let value = |depth: &u32| {
            best(shapes, |shape| shape.depth == Some(*depth) && shape.n_workers == *n)
        };
        let name = if *n == 1 { "1 worker".to_owned() } else { format!("{n} workers") };
        (name, depths.iter().map(value).collect())
    };
    let lines: Vec<(String, Vec<Option<f64>>)> = workers.iter().map(line).collect();
    let mut chart = self::lines("queue depth", "queue_depth", &values, &lines);
    chart.id = id("depths", order);
    chart.title = title("Queue depths", order);
    chart.about = "IOPS over the queue depth of a worker.".into();
    chart.x = axis::powers("queue depth of a worker", &values, |depth| format!("{depth}"));
    Some(chart)
}

/// Makes a chart of rates over a quantity. Values that were not measured are gaps.
fn lines(head: &str, name: &str, x: &[f64], lines: &[(String, Vec<Option<f64>>)]) -> ChartSpec {
    let dashes = [
        DashStyle::Solid,
        DashStyle::Dash,
        DashStyle::Dot,
        DashStyle::DashDot,
        DashStyle::Solid,
        DashStyle::Dash,
    ];
    let mut table = Table::new(&[(head, name)]);
    let mut series = Vec::new();
    for (idx, (line, y)) in lines.iter().enumerate() {
        table.add_column(line.as_str(), format!("{}_iops", line.replace([' ', ','], "_")));
        series.push(Series {
            name: line.clone(),
            colour: Colour::Of(idx as u8),
            dash: dashes[idx % dashes.len()],
            marker: Some(Marker::ALL[idx % Marker::ALL.len()]),
            is_line: true,
            x: x.to_vec(),
            y: y.iter().map(|value| value.map(round3)).collect(),
            ..Series::default()
        });
    }
    for (row, at) in x.iter().enumerate() {
        let mut cells = vec![Cell::number(*at, 0)];
        cells.extend(lines.iter().map(|(_, y)| Cell::iops(y[row])));
        table.rows.push(cells);
    }
    ChartSpec { height_px: 320, y: axis::iops(), series, ..empty(table) }
}

pub(super) fn empty(table: Table) -> ChartSpec {
    ChartSpec {
        id: String::new(),
        title: String::new(),
        about: String::new(),
        height_px: 300,
        x: axis::iops(),
        y: axis::iops(),
        series: Vec::new(),
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: Vec::new(),
        source: String::new(),
        thinned: None,
        table,
    }
}

/// Returns the values of a quantity that occur, in ascending order.
fn distinct<T: Ord>(shapes: &[&Shape], of: impl Fn(&Shape) -> Option<T>) -> Vec<T> {
    let mut found: Vec<T> = shapes.iter().filter_map(|shape| of(shape)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the highest rate of the steps that fit: repeats of a step, or further quantities.
fn best(shapes: &[&Shape], fits: impl Fn(&Shape) -> bool) -> Option<f64> {
    let rates = shapes.iter().filter(|shape| fits(shape)).map(|shape| shape.figures.iops());
    rates.max_by(f64::total_cmp)
}

fn id(id: &str, order: &str) -> String {
    if order.is_empty() { id.to_owned() } else { format!("{id}-{order}") }
}

fn title(title: &str, order: &str) -> String {
    if order.is_empty() { title.to_owned() } else { format!("{title}, {order}") }
}

fn round3(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
