//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::sections::{Contents, Section};
use crate::spec::{Axis, Cells, ChartSpec, Colour, DashStyle, Rule, Scale, Series, Thinned};
use crate::table::{Cell, Table};
use crate::{Subject, charts};

fn chart() -> ChartSpec {
    ChartSpec {
        id: "c-1".to_owned(),
        title: "Chart".to_owned(),
        about: "What is there.".to_owned(),
        height_px: 300,
        x: Axis::default(),
        y: Axis::default(),
        series: Vec::new(),
        spans: Vec::new(),
        rules: Vec::new(),
        cells: None,
        notes: Vec::new(),
        source: String::new(),
        thinned: None,
        table: Table::new(&[("one", "one"), ("two", "two")]),
    }
}

fn line() -> Series {
    let (x, y) = (vec![1.0, 2.0], vec![Some(1.0), None]);
    Series { name: "reads".to_owned(), x, y, ..Series::default() }
}

fn cells() -> Cells {
    Cells {
        title: "operations".to_owned(),
        x: vec![0.0, 1.0, 2.0],
        y: vec![0.0, 1.0],
        values: vec![vec![Some(1.0), None]],
        texts: Vec::new(),
        is_log: false,
    }
}

#[test]
fn a_chart_that_cannot_be_drawn_is_reported() {
    let with = |change: &dyn Fn(&mut ChartSpec)| {
        let mut chart = chart();
        change(&mut chart);
        chart.must_be_whole();
    };
    let names = |names: &[&str], scale| {
        let categories = names.iter().map(|name| (*name).to_owned()).collect();
        with(&|it| {
            it.y = Axis {
                title: "jobs".into(),
                scale,
                categories: Vec::clone(&categories),
                ..Axis::default()
            }
        });
    };
    let rule = |colour| Rule {
        is_across: true,
        at: 1.0,
        text: String::new(),
        colour,
        dash: DashStyle::Dot,
    };
    let thinned = |n_samples, n_points| Some(Thinned { n_samples, n_points });
    testing::check_wrong_calls(&[
        ("no id", "a chart has the id ``", &|| with(&|it| it.id.clear())),
        ("an id with blanks", "a chart has the id `a b`", &|| with(&|it| it.id = "a b".into())),
        ("no height", "the chart `c-1` is 0 pixels high", &|| with(&|it| it.height_px = 0)),
        ("names beside numbers", "`jobs` of `c-1` has 1 names", &|| names(&["a"], Scale::Log)),
        ("no names", "`jobs` of `c-1` has 0 names", &|| names(&[], Scale::Categories)),
        ("a seventh colour", "a rule of `c-1` has the colour Of(6)", &|| {
            with(&|it| it.rules.push(rule(Colour::Of(6))));
        }),
        ("lines and cells", "`c-1` has cells and 1 series", &|| {
            with(&|it| (it.series, it.cells) = (vec![line()], Some(cells())));
        }),
        ("more points than samples", "5 points of `c-1` are 4 samples", &|| {
            with(&|it| it.thinned = thinned(4, 5));
        }),
        ("a row too short", "row 0 of `c-1` has 1 cells of 2", &|| {
            with(&|it| it.table.rows.push(vec![Cell::Nothing]));
        }),
    ]);
    with(&|it| it.cells = Some(cells()));
    with(&|it| (it.series, it.thinned) = (vec![line()], thinned(4, 4)));
    names(&["a"], Scale::Categories);
}

#[test]
fn lines_and_cells_that_do_not_fit_are_reported() {
    let lines = |change: &dyn Fn(&mut Series)| {
        let mut line = line();
        change(&mut line);
        ChartSpec { series: vec![line], ..chart() }.must_be_whole();
    };
    let drawn = |change: &dyn Fn(&mut Cells)| {
        let mut cells = cells();
        change(&mut cells);
        ChartSpec { cells: Some(cells), ..chart() }.must_be_whole();
    };
    testing::check_wrong_calls(&[
        ("a value without a place", "has 2 values along x, and 3 along y", &|| {
            lines(&|it| it.y.push(None));
        }),
        ("too few bars", "`reads` of `c-1`: 1 ends, 2 points", &|| {
            lines(&|it| it.ends = vec![None]);
        }),
        ("too many texts", "`reads` of `c-1`: 3 texts, 2 points", &|| {
            lines(&|it| it.texts = vec![String::new(); 3]);
        }),
        ("a hollow point of none", "point Some(2) of 2 of `reads` of `c-1` is hollow", &|| {
            lines(&|it| it.hollow = vec![1, 2]);
        }),
        ("a shade of a third colour", "`reads` of `c-1` has the colour Shade(2, 0)", &|| {
            lines(&|it| it.colour = Colour::Shade(2, 0));
        }),
        ("rows without edges", "`c-1` has 1 rows of cells between 3 edges", &|| {
            drawn(&|it| it.y.push(2.0));
        }),
        ("a row too long", "a row of `c-1` has Some(3) cells, and 2 columns", &|| {
            drawn(&|it| it.values[0].push(None));
        }),
        ("texts of other rows", "the 1 rows of `c-1` have texts for [1] cells", &|| {
            drawn(&|it| it.texts = vec![vec![String::new()]]);
        }),
    ]);
    drawn(&|it| it.texts = vec![vec![String::new(); 2]]);
    lines(&|it| it.hollow = vec![0, 1]);
}

#[test]
fn a_page_on_which_links_lead_astray_is_reported() {
    let section = |id: &str, charts| Section { id: id.to_owned(), charts, ..Section::default() };
    let page = |sections: Vec<Section>| {
        Contents { sections, ..Contents::of(&Subject::default()) }.must_be_whole();
    };
    let wide = || {
        let mut table = Table::new(&[("one", "one")]);
        table.rows.push(vec![Cell::Nothing, Cell::Nothing]);
        table
    };
    testing::check_wrong_calls(&[
        ("two sections", "two sections are `s`", &|| {
            page(vec![section("s", Vec::new()), section("s", Vec::new())]);
        }),
        ("two charts", "two charts, or a section and a chart, are `c-1`", &|| {
            page(vec![section("s", vec![chart(), chart()])]);
        }),
        ("a chart like a section", "or a section and a chart, are `c-1`", &|| {
            page(vec![section("c-1", vec![chart()])]);
        }),
        ("a table of a section", "row 0 of `Jobs` has 2 cells of 1", &|| {
            let tables = vec![("Jobs".to_owned(), wide())];
            page(vec![Section { tables, ..section("s", Vec::new()) }]);
        }),
        ("a wide row as CSV", "row 0 of `csv` has 2 cells of 1", &|| _ = wide().csv()),
        ("a wide row as JSON", "row 0 of `json` has 2 cells of 1", &|| _ = wide().json()),
    ]);
    page(vec![section("s", vec![chart()])]);
    assert_eq!(charts(&Subject::default()), []);
}

/// Runs of one name may stand side by side; a program must find the figures of both.
#[test]
fn columns_of_one_name_are_numbered() {
    let mut table = Table::new(&[("a", "a_ns"), ("a", "a_ns"), ("a", "a_ns_2"), ("a", "a_ns")]);
    table.rows.push((1..=4).map(Cell::count).collect());
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a_ns", "a_ns_2", "a_ns_2_2", "a_ns_3"]);
    assert_eq!(table.json()[0]["a_ns_3"], 4.0);
}
